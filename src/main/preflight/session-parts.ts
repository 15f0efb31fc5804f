// The inputs of a session, and the parts that the steps of a preflight share.

import type { ToolCatalog } from '../../shared/tool-use.js';
import type { Logger } from '../host/logger.js';
import { sessionClock } from '../host/session-clock.js';
import { ReasoningTerms } from '../models/session-model.js';
import type { CacheTerms } from '../models/session-model.js';
import type { OffloadMeter } from '../offload/offload-meter.js';
import type { Offload } from '../offload/offload.js';
import type { SessionLog } from '../removal-log/session-log.js';
import type { SessionConfig } from '../settings/session-config.js';
import type { StateKeeper } from '../state/state-keeper.js';
import type { CompactByProvider } from '../strategies/provider-compaction.js';
import { ContextGauge } from './context-gauge.js';
import type { ContextGaugeOptions } from './context-gauge.js';
import type { CompressionInputs } from '../strategies/strategy.js';
import { ProgressGuard } from './progress-guard.js';
import { CacheMisses, SentHistory } from './prompt-cache.js';

/** Share of the context window by which a history must grow before an unsuccessful compression is repeated. */
const MIN_GROWTH_SHARE = 0.05;

/** The inputs of a session. */
export interface SessionInit extends Omit<ContextGaugeOptions, 'runtimeContext'> {
  readonly sessionId: string;
  readonly config: SessionConfig;
  readonly offload: Offload;
  /** Where the offload books its work. */
  readonly meter: OffloadMeter;
  /** The host's own catalog, to be checked against the calls that arrive. @default none */
  readonly ownCatalog?: ToolCatalog | undefined;
  /** What strategies are given besides the history. @default nothing */
  readonly compressionInputs?: (() => CompressionInputs) | undefined;
  /** Asks the provider to compact. @default none */
  readonly compactByProvider?: CompactByProvider | undefined;
  /** Records what edits remove. The session closes it. @default nothing is recorded */
  readonly removalLog?: SessionLog | undefined;
  readonly logger: Logger;
  /** A monotonic clock in milliseconds. @default one that keeps running while the machine sleeps */
  readonly now?: (() => number) | undefined;
  /**
   * Whether the initial history has answers of a model but no saved state, which means that an unknown session has sent it.
   * @default false
   */
  readonly wasSentBefore?: boolean | undefined;
  /** Saves the session's state for other processes. @default none */
  readonly keeper?: StateKeeper | undefined;
  /** Called once after the session was closed. */
  readonly onClose?: (() => Promise<void>) | undefined;
}

/** The parts of one session. */
export interface SessionParts extends SessionInit {
  readonly reasoningTerms: ReasoningTerms;
  readonly cache: CacheTerms;
  readonly gauge: ContextGauge;
  readonly guard: ProgressGuard;
  readonly sent: SentHistory;
  readonly cacheMisses: CacheMisses;
  /** Aborts a running compression once `close` has waited long enough for it. */
  readonly ending: AbortController;
}

/**
 * Creates the parts of a session. If the state is replaced, `reasoningTerms` is passed on: refusals are facts about models, so those
 * of this session are kept and those in the new state are added.
 *
 * @throws TypeError or RangeError for an invalid overhead.
 */
export function createParts(
  init: SessionInit & Partial<Pick<SessionParts, 'reasoningTerms'>>,
): SessionParts {
  const { config, history, former, now = sessionClock() } = init;
  const { edits, model, runtimeContext } = config;
  model.follow(history);
  const { cache } = model;
  const { reasoningTerms = new ReasoningTerms(edits.reasoning) } = init;
  reasoningTerms.takeOver(former?.refusing);
  const sent = new SentHistory(init, cache, now);
  const gauge = new ContextGauge({ ...init, runtimeContext });
  return {
    ...init,
    reasoningTerms,
    cache,
    gauge,
    guard: new ProgressGuard({
      minGrowthTokens: () => MIN_GROWTH_SHARE * gauge.contextLimit,
      now,
      former,
    }),
    sent,
    cacheMisses: new CacheMisses({ history, sent, cache }, former && gauge.sentRequest),
    ending: new AbortController(),
  };
}
