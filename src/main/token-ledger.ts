// Who owes what: the tokens of every entry of a history, counted once each, and their sum. Counts
// arrive later from elsewhere; until then an estimate stands in.

import type { IContent } from '../shared/content.js';
import { asError, CompressionStrategyError } from '../shared/errors.js';
import { estimateEntryTokens } from '../shared/tokens/estimate.js';

/** Counts the tokens of each entry, in their order; `modelName` is the model that they are meant for, if known. */
export type CountEntries = (
  contents: readonly IContent[],
  modelName: string | undefined,
) => Promise<readonly number[]>;

interface Account {
  tokens: number;
  isCounted: boolean;
  /** How often the entry stands in the history. */
  occurrences: number;
}

/** Keeps the books of one history. */
export class TokenLedger {
  readonly #countEntries: CountEntries;
  readonly #onChange: (totalTokens: number) => void;
  readonly #accounts = new Map<IContent, Account>();
  /** Counts of entries that may yet come in: what a compression makes is weighed before it is. */
  readonly #weighed = new WeakMap<IContent, number>();
  #uncounted: IContent[] = [];
  #flush: NodeJS.Immediate | undefined;
  /** Ends when all batches that are under way have ended, well or not. */
  #underWay: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #modelName: string | undefined;
  #total = 0;

  /** @param onChange called with the new total when counts have arrived */
  constructor(countEntries: CountEntries, onChange: (totalTokens: number) => void) {
    this.#countEntries = countEntries;
    this.#onChange = onChange;
  }

  /** Tokens of all entries, each occurrence of one counted. */
  get total(): number {
    return this.#total;
  }

  /** Enters entries; what was never counted is queued for it. A model named here is meant from now on. */
  add(contents: readonly IContent[], modelName?: string): void {
    this.#modelName = modelName ?? this.#modelName;
    for (const content of contents) {
      const known = this.#accounts.get(content);
      const account = known ?? this.#open(content);
      account.occurrences += 1;
      this.#total += account.tokens;
    }
    this.#scheduleFlush();
  }

  /** Strikes entries off, one occurrence each. A count that is still under way for one is ignored. */
  remove(contents: readonly IContent[]): void {
    for (const content of contents) {
      const account = this.#accounts.get(content);
      if (account === undefined) continue;
      account.occurrences -= 1;
      this.#total -= account.tokens;
      if (account.occurrences === 0) this.#accounts.delete(content);
    }
  }

  /** Strikes everything off. */
  clear(): void {
    this.#accounts.clear();
    this.#uncounted = [];
    this.#failure = undefined;
    this.#total = 0;
  }

  /**
   * Resolves when every entry is counted.
   *
   * @throws CompressionStrategyError `TOKEN_COUNT_FAILED` when counting failed; the entries keep
   * their estimates, and the next call counts them again.
   */
  async settle(): Promise<void> {
    for (;;) {
      this.#flushNow();
      const underWay = this.#underWay;
      await underWay;
      if (underWay !== this.#underWay) continue;
      if (this.#uncounted.length === 0) return;
      if (this.#failure === undefined) continue;
      const cause = this.#failure;
      throw new CompressionStrategyError(
        `Counting tokens failed: ${cause.message}. The total holds estimates until a later count succeeds.`,
        'TOKEN_COUNT_FAILED',
        { cause },
      );
    }
  }

  /** Tokens of each entry; those of the history from the books, others counted now and remembered. */
  async countEach(contents: readonly IContent[]): Promise<readonly number[]> {
    const tokens = contents.map((content) => {
      const account = this.#accounts.get(content);
      return account?.isCounted === true ? account.tokens : this.#weighed.get(content);
    });
    const unknown = contents.filter((_, at) => tokens[at] === undefined);
    const counts = unknown.length === 0 ? [] : await this.#countEntries(unknown, this.#modelName);
    unknown.forEach((content, at) => this.#weighed.set(content, wholeTokens(counts[at])));
    let next = 0;
    return tokens.map((known) => known ?? wholeTokens(counts[next++]));
  }

  /** Sums the books anew; equal to `total` unless there is a defect. */
  recount(): number {
    this.#total = 0;
    for (const { tokens, occurrences } of this.#accounts.values()) {
      this.#total += tokens * occurrences;
    }
    return this.#total;
  }

  #open(content: IContent): Account {
    const weighed = this.#weighed.get(content);
    const isCounted = weighed !== undefined;
    const account = { tokens: weighed ?? estimateEntryTokens(content), isCounted, occurrences: 0 };
    this.#accounts.set(content, account);
    if (!isCounted) this.#uncounted.push(content);
    return account;
  }

  /** What one macrotask adds leaves as one batch. */
  #scheduleFlush(): void {
    if (this.#uncounted.length === 0 || this.#flush !== undefined) return;
    this.#flush = setImmediate(() => {
      this.#flush = undefined;
      this.#flushNow();
    });
  }

  #flushNow(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    if (this.#uncounted.length === 0) return;
    // What failed before is among them, and gets another chance.
    this.#failure = undefined;
    const batch = this.#uncounted.filter((content) => this.#isUncounted(content));
    this.#uncounted = [];
    if (batch.length === 0) return;
    const counted = this.#count(batch);
    this.#underWay = Promise.all([this.#underWay, counted]).then(() => undefined);
  }

  async #count(batch: readonly IContent[]): Promise<void> {
    try {
      const counts = await this.#countEntries(batch, this.#modelName);
      batch.forEach((content, at) => {
        this.#enter(content, wholeTokens(counts[at]));
      });
      this.#onChange(this.#total);
    } catch (error) {
      this.#failure = asError(error);
      // Back in line, without a flush of its own: a counter that always fails would never rest.
      this.#uncounted = this.#uncounted.concat(
        batch.filter((content) => this.#isUncounted(content)),
      );
    }
  }

  #isUncounted(content: IContent): boolean {
    return this.#accounts.get(content)?.isCounted === false;
  }

  #enter(content: IContent, tokens: number): void {
    const account = this.#accounts.get(content);
    if (account === undefined || account.isCounted) return;
    this.#total += (tokens - account.tokens) * account.occurrences;
    account.tokens = tokens;
    account.isCounted = true;
  }
}

/** A count that is no number, or below nothing, counts as nothing. */
function wholeTokens(count: number | undefined): number {
  return count !== undefined && count > 0 && Number.isFinite(count) ? Math.ceil(count) : 0;
}
