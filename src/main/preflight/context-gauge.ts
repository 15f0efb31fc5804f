// How full the model's window is, in its own tokens: remembers what each preflight made ready,
// compares it with what the provider reported for it, and says how sure a number is.

import type { HistoryService } from '../history-service.js';
import { TokenCalibration } from '../tokens/token-calibration.js';
import type { RequestMemory } from '../state/session-state.js';
import type { ObservationOutcome } from '../tokens/token-calibration.js';
import { assertTokens } from '../../shared/misuse.js';
import type { AgentRuntimeContext } from '../strategies/strategy.js';

/**
 * Where a number of tokens comes from. `reported`: from the provider, for this very history.
 * `counted`: every entry was counted. `estimated`: some were not, or the tokenizer is an estimate.
 */
export type TokenSource = 'reported' | 'counted' | 'estimated';

/** How full the model's window is. */
export interface ContextUsage {
  /** Tokens of history and overhead, in the model's own tokens as far as it is known. */
  readonly tokens: number;
  readonly source: TokenSource;
}

/** What a provider reported for the last request. */
export interface UsageReport {
  /** All tokens of the input, also those that came from or went into a cache. */
  readonly inputTokens: number;
  /** The model that answered, named as to `history.add`. @default the one that was named last */
  readonly modelName?: string | undefined;
  /** Those of the input that came from the provider's cache, for the event `cacheMissed`. @default nobody knows */
  readonly cacheReadTokens?: number | undefined;
  /** The provider's own word for why its cache was missed, 200 characters at most. @default it gave none */
  readonly cacheMissReason?: string | undefined;
}

/**
 * What a report of usage led to: `learned`, or why nothing could be learned from it. `no-preflight`:
 * there was no preflight to compare it with. `rewritten`: the history was edited since.
 * `uncounted`: entries came in during the preflight that were not counted at its end.
 */
export type UsageReportOutcome = ObservationOutcome | 'no-preflight' | 'rewritten' | 'uncounted';

export interface ContextGaugeOptions {
  readonly history: HistoryService;
  /** Says what the model accepts, and at which share of that a history is compressed. */
  readonly runtimeContext: Pick<AgentRuntimeContext, 'ephemerals'>;
  /** What is known of models, for sessions that share it. @default nothing, and shared with nobody */
  readonly calibration?: TokenCalibration | undefined;
  /** System text and tool schemas of every request, in the model's own tokens. @default 0 */
  readonly overheadTokens?: number | undefined;
  /** Whether the tokenizer itself is an estimate, or has become one. @default false */
  readonly countsAreEstimates?: (() => boolean) | undefined;
  /** The last request of a former session of the history. @default there was none */
  readonly formerRequest?: RequestMemory | null | undefined;
}

/** The state of a history. Whatever is added to it or done to it makes another one. */
interface HistoryVersion {
  readonly revision: number;
  readonly additions: number;
}

/** What a preflight made ready. */
interface ReadyRequest extends HistoryVersion {
  /** `undefined` when not all of it was counted. */
  readonly countedTokens: number | undefined;
  readonly pendingTokens: number;
}

/** Measures one session's use of the model's window. */
export class ContextGauge {
  readonly #history: HistoryService;
  readonly #runtimeContext: ContextGaugeOptions['runtimeContext'];
  readonly #calibration: TokenCalibration;
  readonly #overheadTokens: number;
  readonly #countsAreEstimates: () => boolean;
  #sent: ReadyRequest | undefined;
  #reported: (HistoryVersion & { readonly tokens: number }) | undefined;

  /** @throws TypeError or RangeError for an overhead that is no number of tokens. */
  constructor(options: ContextGaugeOptions) {
    const { overheadTokens = 0, countsAreEstimates = () => false } = options;
    assertTokens('overheadTokens', overheadTokens);
    this.#history = options.history;
    this.#runtimeContext = options.runtimeContext;
    this.#calibration = options.calibration ?? new TokenCalibration();
    this.#overheadTokens = overheadTokens;
    this.#countsAreEstimates = countsAreEstimates;
    const { formerRequest, history } = options;
    if (!formerRequest) return;
    const { addedSince, countedTokens, pendingTokens } = formerRequest;
    const { revision, additions } = history;
    const version = { revision, additions: additions - addedSince };
    this.#sent = { ...version, countedTokens: countedTokens ?? undefined, pendingTokens };
  }

  /** What the next session of the history has to know of the last request; `null` when no report can be for it. */
  get request(): RequestMemory | null {
    const { revision, additions } = this.#history;
    if (this.#sent?.revision !== revision) return null;
    const { countedTokens = null, pendingTokens } = this.#sent;
    return { addedSince: additions - this.#sent.additions, countedTokens, pendingTokens };
  }

  /** Tokens that the model accepts. */
  get contextLimit(): number {
    return this.#runtimeContext.ephemerals.contextLimit();
  }

  /** What the window leaves for the history, by what is known of the model now. */
  get budget(): TokenBudget {
    return new TokenBudget({
      contextLimit: this.contextLimit,
      overheadTokens: this.#overheadTokens,
      ratio: this.#calibration.ratioOf(this.#history.modelName),
    });
  }

  /** Whether the history fits the window beside the overhead and the model's `pendingTokens`. */
  fits(pendingTokens: number): boolean {
    return this.#history.getTotalTokens() <= this.budget.roomTokens(pendingTokens);
  }

  /** Counted tokens at which the history is to be compressed beside the overhead and the model's `pendingTokens`. */
  thresholdTokens(pendingTokens: number): number {
    const share = this.#runtimeContext.ephemerals.compressionThreshold();
    return this.budget.thresholdTokens(share, pendingTokens);
  }

  /** Whether the history reaches that threshold. What does not fit does: the threshold is a share of the window. */
  shouldCompress(pendingTokens: number): boolean {
    return this.#history.getTotalTokens() >= this.thresholdTokens(pendingTokens);
  }

  /** How the counter came by the history's total. */
  get countSource(): Exclude<TokenSource, 'reported'> {
    return this.#history.isCounted && !this.#countsAreEstimates() ? 'counted' : 'estimated';
  }

  /** How full the window is. A report counts only until anything is added or edited. */
  get usage(): ContextUsage {
    if (this.#reported !== undefined && this.#isCurrent(this.#reported)) {
      return { tokens: this.#reported.tokens, source: 'reported' };
    }
    const historyTokens = this.budget.toModelTokens(this.#history.getTotalTokens());
    return { tokens: historyTokens + this.#overheadTokens, source: this.countSource };
  }

  /** Forgets what was sent last: a report that comes from here on cannot be told from one for the next request. */
  preflightOpens(): void {
    this.#sent = undefined;
  }

  /** Remembers the history as the request will hold it, beside that many tokens. */
  preflightCloses(pendingTokens: number): void {
    const { revision, additions, isCounted } = this.#history;
    this.#sent = {
      revision,
      additions,
      countedTokens: isCounted ? this.#history.getTotalTokens() : undefined,
      pendingTokens,
    };
  }

  /** See `reportUsage` of the session. */
  report({ inputTokens, modelName }: UsageReport): UsageReportOutcome {
    assertTokens('inputTokens', inputTokens);
    assertModelName(modelName);
    if (modelName !== undefined) this.#history.nameModel(modelName);
    const sent = this.#sent;
    if (sent === undefined) return 'no-preflight';
    if (sent.revision !== this.#history.revision) return 'rewritten';
    const outcome = this.#learn(sent, inputTokens);
    // Without what nobody has counted a report may be high and true; one that is too low leaves things out.
    if (outcome !== 'too-low') {
      this.#reported = { ...sent, tokens: Math.max(0, inputTokens - sent.pendingTokens) };
    }
    return outcome;
  }

  #learn({ countedTokens, pendingTokens }: ReadyRequest, inputTokens: number): UsageReportOutcome {
    if (countedTokens === undefined) return 'uncounted';
    const historyTokens = inputTokens - this.#overheadTokens - pendingTokens;
    return this.#calibration.observe(this.#history.modelName, historyTokens, countedTokens);
  }

  #isCurrent({ revision, additions }: HistoryVersion): boolean {
    return revision === this.#history.revision && additions === this.#history.additions;
  }
}

/** What a budget is made of. */
export interface TokenBudgetOptions {
  /** Tokens that the model accepts, in its own tokens. */
  readonly contextLimit: number;
  /** What every request holds besides (system text, tool schemas), in the model's own tokens. */
  readonly overheadTokens: number;
  /** The model's own tokens per counted token. */
  readonly ratio: number;
}

/** Says in counted tokens how much of a model's window there is for a history. */
export class TokenBudget {
  readonly contextLimit: number;
  readonly overheadTokens: number;
  readonly #ratio: number;

  constructor({ contextLimit, overheadTokens, ratio }: TokenBudgetOptions) {
    this.contextLimit = contextLimit;
    this.overheadTokens = overheadTokens;
    this.#ratio = ratio;
  }

  /**
   * Counted tokens of a history that fills the window by itself: to strategies, the context limit.
   * What they aim at is a share of this, so that an overhead of nearly everything leaves a target.
   */
  get windowTokens(): number {
    return Math.max(1, Math.floor(this.#toCounted(this.contextLimit)));
  }

  /** Counted tokens that a history may have beside the model's `pendingTokens`; below 0 when these do not fit. @param limit of the prompt, in the model's own tokens */
  roomTokens(pendingTokens: number, limit: number = this.contextLimit): number {
    return this.#toCounted(limit - pendingTokens);
  }

  /** Counted tokens at which a history, overhead and `pendingTokens` together reach a share of the window. */
  thresholdTokens(share: number, pendingTokens: number): number {
    return this.#toCounted(share * this.contextLimit - pendingTokens);
  }

  /** What that many counted tokens are to the model, rounded up, without any overhead. */
  toModelTokens(countedTokens: number): number {
    return Math.ceil(countedTokens * this.#ratio);
  }

  #toCounted(windowTokens: number): number {
    return (windowTokens - this.overheadTokens) / this.#ratio;
  }
}

function assertModelName(modelName: unknown): void {
  if (modelName === undefined || typeof modelName === 'string') return;
  throw new TypeError(`Expected modelName to be a string, got ${typeof modelName}.`);
}
