// What the model's window leaves for the history, in the tokens that histories are counted in. Pure:
// it is told what the model takes, and converts that once instead of every count.

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

  /** Counted tokens that a history may have beside the model's `pendingTokens`; below 0 when these do not fit. */
  roomTokens(pendingTokens: number): number {
    return this.#toCounted(this.contextLimit - pendingTokens);
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

/**
 * Checks a number of tokens that a caller names.
 *
 * @throws TypeError when it is no number; RangeError when it is negative or not finite.
 */
export function assertTokens(name: string, tokens: number): void {
  if (typeof tokens !== 'number') {
    throw new TypeError(`Expected ${name} to be a number, got ${typeof tokens}.`);
  }
  if (tokens >= 0 && Number.isFinite(tokens)) return;
  throw new RangeError(`Expected ${name} of at least 0, got ${tokens}.`);
}
