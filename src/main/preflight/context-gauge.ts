// How full the model's window is, in the model's own tokens. Remembers the request of the last preflight, calibrates by the usage
// reported for that request, and says how reliable a number is.

import type { IContent } from '../../shared/content.js';
import { assertTokens } from '../../shared/misuse.js';
import type { HistoryService } from '../history-service.js';
import type { RequestMemory, SessionMemory, UsageMemory } from '../state/session-state.js';
import { TARGET_SHARE } from '../strategies/strategy.js';
import type { AgentRuntimeContext } from '../strategies/strategy.js';
import type { ObservationOutcome, TokenCalibration } from '../tokens/token-calibration.js';
import type { PreflightRequest } from './request-options.js';
import { LearnedOverhead } from './learned-overhead.js';
import type { RequestUsage } from './learned-overhead.js';

/**
 * Where a token number comes from. `reported`: by the provider, for exactly this history. `counted`: every entry was counted.
 * `estimated`: some were not, or the tokenizer is an estimate.
 */
export type TokenSource = 'reported' | 'counted' | 'estimated';

/** How full the model's window is. */
export interface ContextUsage {
  /** Tokens of history and overhead, in the model's own tokens as far as its ratio is known. */
  readonly tokens: number;
  readonly source: TokenSource;
}

/** The usage that a provider reported for the last request. */
export interface UsageReport {
  /** All input tokens, including those read from or written to a cache. */
  readonly inputTokens: number;
  /** The model that answered, named as in `history.add`. @default the most recently named one */
  readonly modelName?: string | undefined;
  /** Input tokens read from the provider's cache, for the event `cacheMissed`. @default unknown */
  readonly cacheReadTokens?: number | undefined;
  /** The provider's reason for a cache miss, at most 200 characters. @default none */
  readonly cacheMissReason?: string | undefined;
}

/**
 * The outcome of a usage report: `learned`, or why nothing was learned. `no-preflight`: there was no preflight to compare with, or
 * the model has since answered further requests, which another process prepared. `rewritten`: the history was edited since.
 * `uncounted`: not every entry was counted when the preflight ended.
 */
export type UsageReportOutcome = ObservationOutcome | 'no-preflight' | 'rewritten' | 'uncounted';

/** Other processes are told of a report if it changes the tokens of history and overhead by more than this share; see `hasLearned`. */
const MIN_REPORTED_CHANGE = 0.02;

export interface ContextGaugeOptions {
  readonly history: HistoryService;
  /** Provides the context limit and the compression threshold. */
  readonly runtimeContext: Pick<AgentRuntimeContext, 'ephemerals'>;
  /** What is known of models, possibly shared between sessions. */
  readonly calibration: TokenCalibration;
  /** System text and tool schemas of every request, in the model's own tokens. @default learned from reports */
  readonly overheadTokens?: number | undefined;
  /** Whether the tokenizer is an estimate, or has fallen back to one. @default false */
  readonly countsAreEstimates?: (() => boolean) | undefined;
  /** The state of an earlier session of this history. @default none */
  readonly former?: SessionMemory | undefined;
}

/** Identifies a state of a history: each addition and edit changes it. */
interface HistoryVersion {
  readonly revision: number;
  readonly additions: number;
}

/** What is known of the size of a request. */
type RequestSize = Pick<PreflightRequest, 'pendingTokens' | 'excessTokens'>;

/** The request that a preflight prepared. */
interface PreparedRequest extends HistoryVersion {
  /** `undefined` if not every entry was counted. */
  readonly countedTokens: number | undefined;
  readonly pendingTokens: number;
}

/** Measures one session's use of the model's window. */
export class ContextGauge {
  readonly #options: ContextGaugeOptions;
  /** Absent until the first report, in this session or an earlier one. Learns nothing if the host gives the overhead. */
  #learnedOverhead: LearnedOverhead | undefined;
  #pendingTokens = 0;
  #excessTokens = 0;
  #hasLearned = false;
  #prepared: PreparedRequest | undefined;
  #reported: (HistoryVersion & { readonly tokens: number }) | undefined;

  /** @throws TypeError or RangeError for an invalid overhead. */
  constructor(options: ContextGaugeOptions) {
    const { overheadTokens, former, history, calibration } = options;
    if (overheadTokens !== undefined) assertTokens('overheadTokens', overheadTokens);
    this.#options = options;
    if (former?.usage) this.#learnedOverhead = new LearnedOverhead(calibration, former.usage);
    if (!former?.request) return;
    const { addedSince, countedTokens, pendingTokens } = former.request;
    const { revision, additions } = history;
    const version = { revision, additions: additions - addedSince };
    this.#prepared = { ...version, countedTokens: countedTokens ?? undefined, pendingTokens };
  }

  /** The last request, for a later session of this history; `null` if no report for it can be used. */
  get request(): RequestMemory | null {
    const { revision, additions } = this.#options.history;
    if (this.#prepared?.revision !== revision) return null;
    const { countedTokens = null, pendingTokens } = this.#prepared;
    return { addedSince: additions - this.#prepared.additions, countedTokens, pendingTokens };
  }

  /**
   * The last request, its size estimated in the model's own tokens, and the value of `history.additions` then; `undefined` if it was
   * not counted or has no model name.
   */
  get sentRequest(): { inputTokens: number; modelName: string; additions: number } | undefined {
    const { countedTokens, pendingTokens = 0, additions = 0 } = this.#prepared ?? {};
    const modelName = this.usageMemory?.modelName ?? this.#options.history.modelName;
    if (countedTokens === undefined || modelName === undefined) return undefined;
    const inputTokens = this.#withOverhead(countedTokens) + pendingTokens;
    return { inputTokens, modelName, additions };
  }

  /** What usage reports have taught, for a later session; `null` if nothing. */
  get usageMemory(): UsageMemory | null {
    return this.#learnedOverhead?.memory ?? null;
  }

  /** Tokens of system text and tool schemas, in the model's own tokens: given by the host, else learned from reports, else 0. */
  get overheadTokens(): number {
    return this.#options.overheadTokens ?? this.#learnedOverhead?.tokens ?? 0;
  }

  /** Tokens that the model accepts. */
  get contextLimit(): number {
    return this.#options.runtimeContext.ephemerals.contextLimit();
  }

  /** Sets what the present request takes of the window besides history and overhead, in the model's own tokens; 0 until set. */
  beginRequest({ pendingTokens, excessTokens = 0 }: RequestSize): void {
    this.#pendingTokens = pendingTokens + excessTokens;
    this.#excessTokens = excessTokens;
  }

  /** What the present request takes of the window besides history and overhead, in the model's own tokens. */
  get pendingTokens(): number {
    return this.#pendingTokens;
  }

  /**
   * Counted tokens that the history may have in the present request; negative if the rest of the request alone does not fit.
   *
   * @param limit maximum length of the prompt, in the model's own tokens @default the context limit
   */
  roomTokens(limit: number = this.contextLimit): number {
    return this.#toCounted(limit - this.#pendingTokens);
  }

  /**
   * Counted tokens of the window that are left for the history: the context limit as strategies see it. At least 1, because their
   * targets are shares of it. What a refused request was too long by is not subtracted: it shows that the model counts more tokens
   * of the same text, not that its window is smaller.
   */
  get windowTokens(): number {
    const takenTokens = this.#pendingTokens - this.#excessTokens;
    return Math.max(1, Math.floor(this.#toCounted(this.contextLimit - takenTokens)));
  }

  /** Whether the present request fits the window. */
  fits(): boolean {
    return this.#options.history.getTotalTokens() <= this.roomTokens();
  }

  /**
   * Counted tokens at which the history is to be compressed: those with which the request takes a share of the window.
   *
   * @param pendingTokens what the request holds besides history and overhead @default that of the present request
   * @param share @default the compression threshold
   */
  thresholdTokens(
    pendingTokens: number = this.#pendingTokens,
    share: number = this.#options.runtimeContext.ephemerals.compressionThreshold(),
  ): number {
    return this.#toCounted(share * this.contextLimit - pendingTokens);
  }

  /**
   * Whether the history reaches the compression threshold. True for every history that does not fit the window, because the
   * threshold is a share of the window.
   *
   * @param pendingTokens as in `thresholdTokens`
   */
  shouldCompress(pendingTokens?: number): boolean {
    return this.#options.history.getTotalTokens() >= this.thresholdTokens(pendingTokens);
  }

  /**
   * Counted tokens below which edits at the threshold have to bring the history; else it is compressed as well. The prompt cache is
   * invalidated anyway, and with little room left the next edits would soon invalidate it again. Halfway to the target of a compression.
   */
  lowWaterTokens(): number {
    const share = this.#options.runtimeContext.ephemerals.compressionThreshold();
    return (this.thresholdTokens() + share * this.windowTokens * TARGET_SHARE) / 2;
  }

  get countSource(): Exclude<TokenSource, 'reported'> {
    const { countsAreEstimates = () => false } = this.#options;
    return this.#options.history.isCounted && !countsAreEstimates() ? 'counted' : 'estimated';
  }

  /** How full the window is. A report is valid until anything is added or edited. */
  get usage(): ContextUsage {
    const { revision, additions } = this.#options.history;
    const reported = this.#reported;
    if (reported?.revision === revision && reported.additions === additions)
      return { tokens: reported.tokens, source: 'reported' };
    return { tokens: this.#countedTokens, source: this.countSource };
  }

  /** Tokens of history and overhead, from counts and calibration rather than from a report. */
  get #countedTokens(): number {
    return this.#withOverhead(this.#options.history.getTotalTokens());
  }

  /** Converts counted tokens of a history to the model's own tokens and adds the overhead. */
  #withOverhead(countedTokens: number): number {
    return this.toModelTokens(countedTokens) + this.overheadTokens;
  }

  /** Converts counted tokens into the model's own, rounded up, without overhead. */
  toModelTokens(countedTokens: number): number {
    return Math.ceil(countedTokens * this.#ratio);
  }

  /** Converts the model's own tokens, overhead included, into counted ones without it. */
  #toCounted(modelTokens: number): number {
    return (modelTokens - this.overheadTokens) / this.#ratio;
  }

  /** The model's own tokens per counted token. */
  get #ratio(): number {
    return this.#options.calibration.ratioOf(this.#options.history.modelName);
  }

  /** Forgets the last request: a report that arrives from here on could belong to the next request. */
  beginPreflight(): void {
    this.#prepared = undefined;
  }

  /** Remembers the history as it is about to be sent. */
  endPreflight(): void {
    const { revision, additions, isCounted } = this.#options.history;
    this.#prepared = {
      revision,
      additions,
      countedTokens: isCounted ? this.#options.history.getTotalTokens() : undefined,
      pendingTokens: this.#pendingTokens - this.#excessTokens,
    };
  }

  /** Whether the last report was the first one, or changed the gauge by more than 2 %: worth saving for other processes. */
  get hasLearned(): boolean {
    return this.#hasLearned;
  }

  /** See `reportUsage` of the session. */
  report(report: UsageReport): UsageReportOutcome {
    const [before, hadNone] = [this.#countedTokens, this.usageMemory === null];
    const outcome = this.#learn(report);
    const isFirst = hadNone && this.usageMemory !== null;
    this.#hasLearned =
      isFirst || Math.abs(this.#countedTokens - before) > MIN_REPORTED_CHANGE * before;
    return outcome;
  }

  #learn({ inputTokens, modelName }: UsageReport): UsageReportOutcome {
    const { history, overheadTokens } = this.#options;
    // The request was answered, so it fit: the number is a sum over several requests, or the limit is a guess.
    if (overheadTokens === undefined && inputTokens > this.contextLimit) return 'too-high';
    if (modelName !== undefined) history.nameModel(modelName);
    const sent = this.#prepared;
    if (sent === undefined) return 'no-preflight';
    if (sent.revision !== history.revision) return 'rewritten';
    if (answersSince(sent, history) > 1) return 'no-preflight';
    const { countedTokens, pendingTokens } = sent;
    const reportedTokens = inputTokens - pendingTokens;
    const outcome =
      countedTokens === undefined
        ? 'uncounted'
        : this.#observe({ modelName: history.modelName, reportedTokens, countedTokens });
    // A high report may be right, because the request may hold uncounted content. A report that is too low is incomplete.
    if (outcome !== 'too-low') this.#reported = { ...sent, tokens: Math.max(0, reportedTokens) };
    return outcome;
  }

  #observe(usage: RequestUsage): ObservationOutcome {
    const { calibration, overheadTokens } = this.#options;
    if (overheadTokens === undefined)
      return (this.#learnedOverhead ??= new LearnedOverhead(calibration)).observe(usage);
    const { modelName, reportedTokens, countedTokens } = usage;
    return calibration.observe(modelName, reportedTokens - overheadTokens, countedTokens);
  }
}

/** Whether an answer begins with this entry. Consecutive `ai` entries are one answer. */
export function beginsAnswer(entries: readonly IContent[], at: number): boolean {
  return entries[at]?.speaker === 'ai' && entries[at - 1]?.speaker !== 'ai';
}

/** How many times the model has answered since a request. */
export function answersSince(
  { additions }: Pick<HistoryVersion, 'additions'>,
  history: HistoryService,
): number {
  const entries = history.getRawHistory();
  let answers = 0;
  for (let at = entries.length - (history.additions - additions); at < entries.length; at += 1) {
    if (beginsAnswer(entries, at)) answers += 1;
  }
  return answers;
}
