// What a session is made of: its inputs, and the parts that the steps of a preflight share.

import {
  asObject,
  assertKnownOptions,
  assertSignal,
  assertString,
  assertTokens,
} from '../../shared/misuse.js';
import type { ToolCatalog } from '../../shared/tool-use.js';
import type { Logger } from '../host/logger.js';
import { ReasoningTerms, SessionModel } from '../models/session-model.js';
import type { CacheTerms } from '../models/session-model.js';
import type { Offload } from '../offload/offload.js';
import type { RemovalLog } from '../removal-log/removal-log.js';
import { RemovalRecorder } from '../removal-log/removal-recorder.js';
import { SessionConfig } from '../settings/session-config.js';
import type { SessionConfigInit } from '../settings/session-config.js';
import type { StateKeeper } from '../state/state-keeper.js';
import type { CompactByProvider } from '../strategies/provider-compaction.js';
import { ContextGauge } from './context-gauge.js';
import type { ContextGaugeOptions } from './context-gauge.js';
import { completeEditOptions } from './edit-options.js';
import type { CompleteEditOptions, EditOptions } from './edit-options.js';
import { isBatching } from './edit-policy.js';
import type { EditGateOptions, LandingPoint } from './edit-policy.js';
import type { CompressionInputs } from '../strategies/strategy.js';
import { ProgressGuard } from './progress-guard.js';
import { CacheMisses, SentHistory } from './prompt-cache.js';
import type { ReasoningPolicy } from './reasoning-policy.js';

/** Share of the context window by which a history must grow before an unsuccessful compression is repeated. */
const MIN_GROWTH_SHARE = 0.05;

/** The inputs of a session. */
export interface SessionInit
  extends EditOptions, ContextGaugeOptions, Omit<SessionConfigInit, 'edits' | 'cache'> {
  readonly sessionId: string;
  readonly offload: Offload;
  /** What the settings amount to, if the offload asks for it as well. @default one of its own */
  readonly config?: SessionConfig | undefined;
  /** Whether a compaction leaves a note about the requests and work in the entries it removes. @default false */
  readonly addsWorkNote?: boolean | undefined;
  /** The host's own catalog, to be checked against the calls that arrive. @default none */
  readonly ownCatalog?: ToolCatalog | undefined;
  /** What strategies are given besides the history. @default nothing */
  readonly compressionInputs?: (() => CompressionInputs) | undefined;
  /** Asks the provider to compact. @default none */
  readonly compactByProvider?: CompactByProvider | undefined;
  /** Records what edits remove. The session closes it. @default nothing is recorded */
  readonly removalLog?: RemovalLog | undefined;
  readonly logger: Logger;
  /** A monotonic clock in milliseconds. @default one that goes on while the machine sleeps */
  readonly now?: (() => number) | undefined;
  /** The model that it talks to. @default an unknown one */
  readonly model?: SessionModel | undefined;
  /**
   * Whether the initial history has answers of a model but no saved state, so that an unknown session has sent it. @default
   * false
   */
  readonly wasSentBefore?: boolean | undefined;
  /** Saves the session's state for other processes. @default none */
  readonly keeper?: StateKeeper | undefined;
  /** Called once after the session was closed. */
  readonly onClose?: (() => Promise<void>) | undefined;
}

/** The parts of one session. */
export interface SessionParts extends Omit<SessionInit, keyof EditOptions> {
  readonly edits: CompleteEditOptions;
  readonly reasoningTerms: ReasoningTerms;
  readonly model: SessionModel;
  readonly cache: CacheTerms;
  readonly config: SessionConfig;
  readonly gauge: ContextGauge;
  readonly guard: ProgressGuard;
  readonly sent: SentHistory;
  readonly cacheMisses: CacheMisses;
  /** Absent if removed content is not recorded. */
  readonly recorder?: RemovalRecorder | undefined;
  /** Aborts what a compression waits for once `close` has waited long enough. */
  readonly ending: AbortController;
}

/**
 * Creates the parts of a session.
 *
 * @throws TypeError or RangeError for invalid edit options or overhead.
 */
export function createParts(init: SessionInit): SessionParts {
  const { history, former, removalLog, now = sessionClock() } = init;
  const edits = completeEditOptions(init);
  const model = init.model ?? new SessionModel(edits);
  model.follow(history);
  const { cache } = model;
  const sent = new SentHistory(init, cache, now);
  const gauge = new ContextGauge(init);
  return {
    ...init,
    edits,
    reasoningTerms: new ReasoningTerms(edits.reasoning),
    model,
    cache,
    config: init.config ?? new SessionConfig({ ...init, edits: edits.edits, cache }),
    gauge,
    guard: new ProgressGuard({
      minGrowthTokens: () => MIN_GROWTH_SHARE * gauge.contextLimit,
      now,
      floorTokens: former?.floorTokens,
    }),
    sent,
    cacheMisses: new CacheMisses({ history, sent, cache }),
    recorder: removalLog && new RemovalRecorder({ ...init, removalLog }),
    ending: new AbortController(),
  };
}

/** `Date.now` is rounded, and corrected in small steps. */
const TOLERANCE_MS = 1_000;

/**
 * Returns a clock in milliseconds for the age of a provider's cache. It never goes back. `performance.now` stands still on some
 * systems while a laptop or a virtual machine sleeps, so the time of day counts where it has gone on for longer. If somebody
 * sets that forward, a cache is taken for cold once; setting it back has no effect.
 */
export function sessionClock(): () => number {
  let [steadyMs, dayMs] = [performance.now(), Date.now()];
  let nowMs = steadyMs;
  return () => {
    const [steadyNowMs, dayNowMs] = [performance.now(), Date.now()];
    const [steady, day] = [steadyNowMs - steadyMs, dayNowMs - dayMs];
    nowMs += day - steady > TOLERANCE_MS ? day : steady;
    [steadyMs, dayMs] = [steadyNowMs, dayNowMs];
    return nowMs;
  };
}

/** The options of an edit gate that do not depend on the edited list. */
export function gateOptions(
  parts: SessionParts,
): Omit<EditGateOptions, 'history' | 'logger' | 'sent' | 'spendable'> {
  return {
    ...parts.edits,
    cache: parts.cache,
    reasoning: parts.reasoningTerms,
    bindsReasoning: () => parts.model.bindsReasoning,
  };
}

/** Returns the counted tokens that a history may have before its request reaches a price step; `Infinity` if there is none. */
export function tokensBelowStep(
  { cache, gauge }: Pick<SessionParts, 'cache' | 'gauge'>,
  pendingTokens: number,
): number {
  const { above } = cache.price ?? {};
  return above === undefined
    ? Infinity
    : gauge.budget.roomTokens(pendingTokens, above.promptTokens);
}

/** Returns the minimum counted tokens of a history for its request to be cached; 0 or less if all are. */
export function tokensToBeCached(
  { cache, gauge }: Pick<SessionParts, 'cache' | 'gauge'>,
  pendingTokens: number,
): number {
  return gauge.budget.roomTokens(pendingTokens, cache.price?.leastCachedTokens ?? 0);
}

/** A pass of a preflight, and the circumstances for which its edit is judged. */
export interface DuePass {
  /** Whether all stale content may be removed. */
  readonly isFree: boolean;
  readonly point: LandingPoint;
}

/**
 * The passes of a preflight, in order: the next one is due if nothing of one has landed. Under a policy that weighs cost, a batch
 * first tries to bring a history that is above a price step below it.
 *
 * @param tokens counted tokens of the history
 */
export function duePasses(
  parts: Pick<SessionParts, 'cache' | 'gauge' | 'edits'>,
  point: Pick<LandingPoint, 'isForced' | 'isBatchPoint'>,
  isFree: boolean,
  pendingTokens: number,
  tokens: number,
): readonly DuePass[] {
  const { edits, minReclaimTokens } = parts.edits;
  const limit = tokensBelowStep(parts, pendingTokens);
  const weighsCost = isBatching(edits) && minReclaimTokens === undefined;
  const isAboveStep = point.isBatchPoint && !isFree && weighsCost && tokens > limit;
  const toBeCached = tokensToBeCached(parts, pendingTokens);
  const last = { isFree, point: { ...point, toBeCached, isAboveStep } };
  if (!isAboveStep) return [last];
  return [{ isFree: true, point: { ...point, toBeCached, tokensBelowStep: limit } }, last];
}

/** Options of a call that a signal can abort; it then rejects with the signal's reason. */
export interface AbortOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What is known of the request that is about to be made. */
export interface RequestOptions extends AbortOptions {
  /** Cache lifetime that the request asks for, in milliseconds. @default the model's */
  readonly cacheTtlMs?: number | undefined;
  /**
   * The reasoning policy that suits the model of the request, unless the session has that option. Reasoning that another policy
   * has left behind an edit is removed if this one would not have. @default 'keep'
   */
  readonly reasoning?: ReasoningPolicy | undefined;
}

/**
 * Validates the arguments of a call into a session.
 *
 * @returns its options
 * @throws TypeError or RangeError for an invalid name, options or token number.
 */
export function readCall(
  promptId: string,
  options: RequestOptions,
  pendingTokens: number = 0,
): RequestOptions {
  assertString('promptId', promptId);
  assertTokens('pendingTokens', pendingTokens);
  const { cacheTtlMs, reasoning, ...rest } = readAbortOptions(options);
  if (cacheTtlMs !== undefined || reasoning !== undefined)
    completeEditOptions({ cacheTtlMs, reasoning });
  return { ...rest, cacheTtlMs, reasoning };
}

/**
 * Reads the options' properties, also getters: an `AbortController` has `signal` as one.
 *
 * @throws TypeError if the options cannot be read, or `signal` is not an AbortSignal; RangeError for an unknown option.
 */
export function readAbortOptions(options: RequestOptions): RequestOptions {
  let signal: unknown;
  let cacheTtlMs: RequestOptions['cacheTtlMs'];
  let reasoning: RequestOptions['reasoning'];
  let own: Readonly<Record<string, unknown>>;
  try {
    ({ signal, cacheTtlMs, reasoning } = asObject(
      options,
      'the options',
      'an object',
    ) as RequestOptions);
    own = { ...options };
  } catch (cause) {
    throw new TypeError('Expected options with a signal that can be read.', { cause });
  }
  assertKnownOptions('options of a call', own, ['signal', 'cacheTtlMs', 'reasoning']);
  assertSignal(signal);
  return {
    ...(signal && { signal }),
    ...(cacheTtlMs !== undefined && { cacheTtlMs }),
    ...(reasoning !== undefined && { reasoning }),
  };
}
