// How full the model's window is, in its own tokens: remembers what each pre-send window made ready,
// compares it with what the provider reported for it, and says how sure a number is.

import type { HistoryService } from '../history-service.js';
import { TokenCalibration } from '../token-calibration.js';
import type { ObservationOutcome } from '../token-calibration.js';
import { assertTokens, TokenBudget } from './token-budget.js';

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
}

/**
 * What a report of usage led to: `learned`, or why nothing could be learned from it. `no-window`:
 * there was no pre-send window to compare it with. `rewritten`: the history was edited since.
 * `uncounted`: entries came in during the window that were not counted at its end.
 */
export type UsageReportOutcome = ObservationOutcome | 'no-window' | 'rewritten' | 'uncounted';

export interface ContextGaugeOptions {
  readonly history: HistoryService;
  /** Returns the tokens that the model accepts. */
  readonly contextLimit: () => number;
  /** What is known of models, for sessions that share it. @default nothing, and shared with nobody */
  readonly calibration?: TokenCalibration | undefined;
  /** System text and tool schemas of every request, in the model's own tokens. @default 0 */
  readonly overheadTokens?: number | undefined;
  /** Whether the tokenizer itself is an estimate, or has become one. @default false */
  readonly countsAreEstimates?: (() => boolean) | undefined;
}

/** The state of a history. Whatever is added to it or done to it makes another one. */
interface HistoryState {
  readonly revision: number;
  readonly additions: number;
}

interface SentHistory extends HistoryState {
  /** `undefined` when not all of it was counted. */
  readonly countedTokens: number | undefined;
  readonly pendingTokens: number;
}

/** Measures one session's use of the model's window. */
export class ContextGauge {
  readonly #history: HistoryService;
  readonly #contextLimit: () => number;
  readonly #calibration: TokenCalibration;
  readonly #overheadTokens: number;
  readonly #countsAreEstimates: () => boolean;
  #sent: SentHistory | undefined;
  #reported: (HistoryState & { readonly tokens: number }) | undefined;

  /** @throws TypeError or RangeError for an overhead that is no number of tokens. */
  constructor(options: ContextGaugeOptions) {
    const { overheadTokens = 0, countsAreEstimates = () => false } = options;
    assertTokens('overheadTokens', overheadTokens);
    this.#history = options.history;
    this.#contextLimit = options.contextLimit;
    this.#calibration = options.calibration ?? new TokenCalibration();
    this.#overheadTokens = overheadTokens;
    this.#countsAreEstimates = countsAreEstimates;
  }

  /** What the window leaves for the history, by what is known of the model now. */
  get budget(): TokenBudget {
    return new TokenBudget({
      contextLimit: this.#contextLimit(),
      overheadTokens: this.#overheadTokens,
      ratio: this.#calibration.ratioOf(this.#history.modelName),
    });
  }

  /** Whether the history fits the window beside the overhead and the model's `pendingTokens`. */
  fits(pendingTokens: number): boolean {
    return this.#history.getTotalTokens() <= this.budget.roomTokens(pendingTokens);
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
  windowOpens(): void {
    this.#sent = undefined;
  }

  /** Remembers the history as the request will hold it, beside that many tokens. */
  windowCloses(pendingTokens: number): void {
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
    if (sent === undefined) return 'no-window';
    if (sent.revision !== this.#history.revision) return 'rewritten';
    const outcome = this.#learn(sent, inputTokens);
    // Without what nobody has counted a report may be high and true; one that is too low leaves things out.
    if (outcome !== 'too-low') {
      this.#reported = { ...sent, tokens: Math.max(0, inputTokens - sent.pendingTokens) };
    }
    return outcome;
  }

  #learn({ countedTokens, pendingTokens }: SentHistory, inputTokens: number): UsageReportOutcome {
    if (countedTokens === undefined) return 'uncounted';
    const historyTokens = inputTokens - this.#overheadTokens - pendingTokens;
    return this.#calibration.observe(this.#history.modelName, historyTokens, countedTokens);
  }

  #isCurrent({ revision, additions }: HistoryState): boolean {
    return revision === this.#history.revision && additions === this.#history.additions;
  }
}

function assertModelName(modelName: unknown): void {
  if (modelName === undefined || typeof modelName === 'string') return;
  throw new TypeError(`Expected modelName to be a string, got ${typeof modelName}.`);
}
