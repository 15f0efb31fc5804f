// What a session is made of: what its maker gives it, and the parts that the steps of a preflight work with.

import { DEFAULT_DENSITY_CONFIG, placeholderOf } from '../../shared/density.js';
import type { DensityConfig } from '../../shared/density.js';
import { explainDensity } from '../../shared/density/explain/explain-density.js';
import type { EntryExplanation } from '../../shared/density/explain/explanation.js';
import { asObject, assertSignal, assertString, assertTokens } from '../../shared/misuse.js';
import { atPrices, withColdCache } from '../../shared/density/rules/working-set-rules.js';
import type { Logger } from '../host/logger.js';
import { CacheTerms } from '../models/model-prices.js';
import { bindsReasoning } from '../models/model-limits.js';
import type { Offload } from '../offload/offload.js';
import type { RemovalLog } from '../removal-log/removal-log.js';
import { RemovalRecorder } from '../removal-log/removal-recorder.js';
import type { ToolCatalog } from '../../shared/tool-catalog.js';
import { ruleSettings } from '../settings/settings.js';
import type { Settings } from '../settings/settings.js';
import type { CompactByProvider } from '../strategies/provider-compaction.js';
import type {
  AgentRuntimeContext,
  CompressionStrategy,
  CompressionStrategyName,
} from '../strategies/strategy.js';
import { CacheMisses } from './cache-misses.js';
import type { CompressionInputs } from './make-compression.js';
import { ContextGauge } from './context-gauge.js';
import type { ContextGaugeOptions } from './context-gauge.js';
import { assertTimeToLive, completeEditOptions } from './edit-options.js';
import type { CompleteEditOptions, EditOptions } from './edit-options.js';
import { isBatching } from './edit-policy.js';
import type { EditGateOptions } from './edit-policy.js';
import type { SessionMemory } from '../state/session-state.js';
import type { StateKeeper } from '../state/state-keeper.js';
import { ProgressGuard } from './progress-guard.js';
import { SentHistory } from './sent-history.js';

/** Share of the context window by which a history must grow before a compression that did not help is tried again. */
const MIN_GROWTH_SHARE = 0.05;

/** The part of `DensityConfig` that comes from the agent and not from settings. */
export type DensityOptions = Pick<
  DensityConfig,
  | 'workspaceRoot'
  | 'toolCatalog'
  | 'inclusionSyntaxes'
  | 'partialWritesSupersede'
  | 'workingSet'
  | 'shrink'
>;

/** What the maker of a session gives it. */
export interface SessionInit extends EditOptions, ContextGaugeOptions {
  readonly sessionId: string;
  readonly offload: Offload;
  readonly runtimeContext: AgentRuntimeContext;
  /** What `runtimeContext` reads. */
  readonly settings: Settings;
  readonly resolveStrategy: (name: CompressionStrategyName) => CompressionStrategy;
  readonly densityOptions: DensityOptions;
  /** Whether what was asked and done in entries that a compaction takes away is kept in a note. @default false */
  readonly carriesWork?: boolean | undefined;
  /** A catalog of the host's own, to be held against the calls that come. @default nothing is */
  readonly ownCatalog?: ToolCatalog | undefined;
  /** What strategies are given beside the history. @default nothing */
  readonly compressionInputs?: (() => CompressionInputs) | undefined;
  /** Asks the provider to compact. @default nobody can */
  readonly compactByProvider?: CompactByProvider | undefined;
  /** Keeps what edits take away. The session closes it. @default nothing is kept */
  readonly removalLog?: RemovalLog | undefined;
  readonly logger: Logger;
  /** Milliseconds that only grow. @default performance.now */
  readonly now?: (() => number) | undefined;
  /** How long the provider keeps what was sent, and what that costs. @default nothing is known of the model */
  readonly cache?: CacheTerms | undefined;
  /** Whether nobody has said what is to become of reasoning. @default false */
  readonly isReasoningUnsaid?: boolean | undefined;
  /** Whether the history holds answers of a model, and so was sent before, by nobody knows whom. @default false */
  readonly isTakenUp?: boolean | undefined;
  /** What the session remembered that had the history before. @default there was none, or nothing is known of it */
  readonly former?: SessionMemory | undefined;
  /** Keeps the state of the session for other processes. @default nobody does */
  readonly keeper?: StateKeeper | undefined;
  /** Called once when the session was closed. */
  readonly onClose?: (() => Promise<void>) | undefined;
}

/** The parts of one session. */
export interface SessionParts extends Omit<SessionInit, keyof EditOptions> {
  readonly edits: CompleteEditOptions;
  readonly cache: CacheTerms;
  readonly gauge: ContextGauge;
  readonly guard: ProgressGuard;
  readonly sent: SentHistory;
  readonly cacheMisses: CacheMisses;
  /** Absent when nothing is kept of what edits take away. */
  readonly recorder?: RemovalRecorder | undefined;
}

/**
 * Makes the parts of a session.
 *
 * @throws TypeError or RangeError for options that say how edits land, or an overhead, and are none.
 */
export function createParts(init: SessionInit): SessionParts {
  const { history, isTakenUp, former, removalLog, now = () => performance.now() } = init;
  const edits = completeEditOptions(init);
  const cache = init.cache ?? new CacheTerms(edits.cacheTtlMs);
  const cacheTtlMs = (): number => cache.ttlMs;
  const sent = new SentHistory({ history, cacheTtlMs, now, isTakenUp, former: former?.sent });
  const gauge = new ContextGauge({ ...init, formerRequest: former?.request });
  return {
    ...init,
    edits,
    cache,
    gauge,
    guard: new ProgressGuard({
      minGrowthTokens: () => MIN_GROWTH_SHARE * gauge.contextLimit,
      now,
      floorTokens: former?.floorTokens,
    }),
    sent,
    cacheMisses: new CacheMisses({ history, sent, cache }),
    recorder: removalLog && new RemovalRecorder({ ...init, removalLog }),
  };
}

/** What a gate of edits goes by besides the history that they are edits of. */
export function gateOptions(
  parts: SessionParts,
): Omit<EditGateOptions, 'history' | 'logger' | 'sent' | 'spendable'> {
  return {
    ...parts.edits,
    cache: parts.cache,
    bindsReasoning: () => bindsReasoning(parts.history.modelName),
    isReasoningUnsaid: parts.isReasoningUnsaid,
  };
}

/** The strategy that the settings name. */
export function currentStrategy(
  parts: Pick<SessionParts, 'resolveStrategy' | 'runtimeContext'>,
): CompressionStrategy {
  return parts.resolveStrategy(parts.runtimeContext.ephemerals.compressionStrategy());
}

/**
 * The configuration of a density pass, from settings and agent.
 *
 * @param isFree whether the prompt cache is cold, or will be lost anyway: where edits wait for what they cost, all results leave
 *   then that may
 */
export function currentDensityConfig(
  {
    runtimeContext: { ephemerals },
    densityOptions,
    edits,
    cache,
  }: Pick<SessionParts, 'runtimeContext' | 'densityOptions' | 'edits' | 'cache'>,
  isFree: boolean = false,
): DensityConfig {
  const { workingSet: _, shrink: __, ...agent } = densityOptions;
  const placeholder = placeholderOf({ placeholder: ephemerals.densityPlaceholder?.() });
  const rules = ruleSettings(ephemerals, densityOptions);
  const config = { ...DEFAULT_DENSITY_CONFIG, ...agent, ...rules, placeholder };
  const { workingSet } = config;
  if (workingSet === undefined) return config;
  const mayLeaveAtOnce = isFree && edits.edits !== 'every-turn';
  return {
    ...config,
    workingSet: mayLeaveAtOnce ? withColdCache(workingSet) : atPrices(workingSet, cache.prices),
  };
}

/**
 * Tells what a density pass would do with an entry of the history.
 *
 * @throws RangeError when the history has no entry at this index.
 */
export function explainEntry(parts: SessionParts, index: number): EntryExplanation {
  const config = currentDensityConfig(parts);
  return explainDensity(parts.history.getRawHistory(), config).explain(index);
}

/**
 * Returns how many counted tokens a history may have before a request with it comes to a step of the price; `Infinity` where
 * there is none.
 */
export function tokensBelowStep(
  { cache, gauge }: Pick<SessionParts, 'cache' | 'gauge'>,
  pendingTokens: number,
): number {
  const { above } = cache.price ?? {};
  return above === undefined
    ? Infinity
    : gauge.budget.roomTokens(pendingTokens, above.promptTokens);
}

/** Returns how many counted tokens a history has to have for a request with it to be cached; not above 0 where all are. */
export function tokensToBeCached(
  { cache, gauge }: Pick<SessionParts, 'cache' | 'gauge'>,
  pendingTokens: number,
): number {
  return gauge.budget.roomTokens(pendingTokens, cache.price?.leastCachedTokens ?? 0);
}

/**
 * Returns how many tokens a history may have below that step where it is above it, and its edits wait for what they cost; `undefined` for all others.
 *
 * @param tokens of the history @default as it stands
 */
export function stepAbove(
  parts: Pick<SessionParts, 'cache' | 'gauge' | 'edits' | 'history'>,
  pendingTokens: number,
  tokens: number = parts.history.getTotalTokens(),
): number | undefined {
  const { edits, minReclaimTokens } = parts.edits;
  if (!isBatching(edits) || minReclaimTokens !== undefined) return undefined;
  const limit = tokensBelowStep(parts, pendingTokens);
  return tokens > limit ? limit : undefined;
}

/** A call that a signal can end; it then rejects with the signal's reason. */
export interface AbortOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What is known of a request that is about to be made. */
export interface RequestOptions extends AbortOptions {
  /** How long it asks the provider's cache to keep it, in milliseconds. @default as the model has it */
  readonly cacheTtlMs?: number | undefined;
}

/**
 * Checks what a call into a session is given.
 *
 * @returns its options, as they were read
 * @throws TypeError or RangeError for what is no name, are no options, or is no number of tokens.
 */
export function readCall(
  promptId: string,
  options: RequestOptions,
  pendingTokens: number = 0,
): RequestOptions {
  assertString('promptId', promptId);
  assertTokens('pendingTokens', pendingTokens);
  const { cacheTtlMs, ...rest } = readAbortOptions(options);
  if (cacheTtlMs !== undefined) assertTimeToLive(cacheTtlMs);
  return { ...rest, cacheTtlMs };
}

/**
 * Reads the signal, also of an `AbortController`, which has it as a getter.
 *
 * @throws TypeError for what is no object that can be read, or has a signal that is none.
 */
export function readAbortOptions(options: RequestOptions): RequestOptions {
  let signal: unknown;
  let cacheTtlMs: RequestOptions['cacheTtlMs'];
  try {
    ({ signal, cacheTtlMs } = asObject(options, 'the options', 'an object') as RequestOptions);
  } catch (cause) {
    throw new TypeError('Expected options with a signal that can be read.', { cause });
  }
  assertSignal(signal);
  return { ...(signal && { signal }), ...(cacheTtlMs !== undefined && { cacheTtlMs }) };
}
