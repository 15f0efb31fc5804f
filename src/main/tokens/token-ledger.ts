// The tokens of a history: each entry is counted once, and the sum is maintained. Counts arrive asynchronously; until then an
// estimate is used, whose characters per token are learned from earlier counts.

import { types } from 'node:util';
import type { IContent } from '../../shared/content.js';
import { asError, CtxfoldError } from '../../shared/errors.js';
import { isArray } from '../../shared/misuse.js';
import { ENTRY_OVERHEAD_TOKENS, fixedEntryTokens } from '../../shared/tokens/content-text.js';
import {
  CHARACTERS_PER_TOKEN,
  entryCharacters,
  estimateEntryTextTokens,
} from '../../shared/tokens/estimate.js';
import { withDeadline } from '../waiting/abortable.js';
import { clearImmediate, setImmediate } from '../waiting/event-loop-turn.js';

/** Counts the tokens of each entry, in order, for the named model if it is known. */
export type CountEntries = (
  contents: readonly IContent[],
  modelName: string | undefined,
) => Promise<readonly number[]>;

/** Tokens by entry; `undefined` if unknown. */
export type KnownTokens = readonly (number | undefined)[];

interface Account {
  /** `undefined` until it is counted. */
  tokens: number | undefined;
  /** UTF-16 units of its texts; 0 if its tokens were known from the start. */
  readonly characters: number;
  /** Tokens that do not depend on text; 0 if its tokens were known from the start. */
  readonly fixedTokens: number;
  /** How often the entry occurs in the history. */
  occurrences: number;
}

interface UncountedPart {
  /** The entry reduced to the blocks that must be counted. */
  readonly uncounted: IContent;
  /** Tokens of its other blocks. */
  readonly tokens: number;
}

/** Bounds of the learned ratio. */
const MIN_CHARACTERS_PER_TOKEN = 1;
const MAX_CHARACTERS_PER_TOKEN = 8;

/** Weight of the initial expectation, in tokens, so that the first short entry does not decide the ratio. */
const PRIOR_TOKENS = 32;

/** Characters sampled for the initial expectation, once per history: 3 ms. Sampling everything would be noticeable. */
const SAMPLE_CHARACTERS = 2 ** 19;

/** Timeout of a batch: far more than any counter needs. Counting in workers has deadlines of its own. */
const COUNT_TIMEOUT_MS = 300_000;

function countTimeout(): Error {
  return new CtxfoldError(
    `The counter gave no answer within ${COUNT_TIMEOUT_MS} ms.`,
    'TOKEN_COUNT_FAILED',
  );
}

const NONE_KNOWN: KnownTokens = [];

/** Maintains the token sum of one history. */
export class TokenLedger {
  readonly #countEntries: CountEntries;
  readonly #onChange: (totalTokens: number) => void;
  readonly #accounts = new Map<IContent, Account>();
  /** Known tokens of entries that are not in the history: those that may be added, such as a compression's, and removed ones. */
  readonly #weighed = new WeakMap<IContent, number>();
  /** Entries that may be added later and are only counted in part. */
  readonly #parts = new WeakMap<IContent, UncountedPart>();
  #uncounted: IContent[] = [];
  #flush: NodeJS.Immediate | undefined;
  #isOnDemand = false;
  /** Resolves when all running batches have ended, whatever their outcome. */
  #underWay: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #modelName: string | undefined;
  #countedTokens = 0;
  /** Sums over uncounted entries, from which their tokens are estimated. */
  #uncountedCharacters = 0;
  #uncountedFixedTokens = 0;
  #uncountedOccurrences = 0;
  /** Text counted so far. Kept when its entries leave. */
  #learnedCharacters = 0;
  #learnedTokens = 0;
  /** Text sampled before anything was counted, and its estimated tokens. */
  #sampledCharacters = 0;
  #sampledTokens = 0;

  /** @param onChange called with the new total when counts have arrived */
  constructor(countEntries: CountEntries, onChange: (totalTokens: number) => void) {
    this.#countEntries = countEntries;
    this.#onChange = onChange;
  }

  /** Tokens of all entries, by occurrence. Uncounted entries are estimated by the characters per token of counted ones. */
  get total(): number {
    if (this.isCounted) return this.#countedTokens;
    const textTokens = Math.ceil(this.#uncountedCharacters / this.#charactersPerToken);
    return this.#countedTokens + this.#uncountedFixedTokens + textTokens;
  }

  /** Whether the total contains no estimate. */
  get isCounted(): boolean {
    return this.#uncountedOccurrences === 0;
  }

  /**
   * Adds entries, and queues those without a count.
   *
   * @param modelName used from now on
   * @param tokens known tokens of the first of them
   */
  add(contents: readonly IContent[], modelName?: string, tokens: KnownTokens = NONE_KNOWN): void {
    this.#modelName = modelName ?? this.#modelName;
    for (let at = 0; at < contents.length; at += 1) {
      const content = contents[at] as IContent;
      const account = this.#accounts.get(content) ?? this.#openAccount(content, tokens[at]);
      account.occurrences += 1;
      this.#book(account, 1);
    }
    this.#scheduleFlush();
  }

  /** Removes one occurrence of each entry. A count that is still running is ignored. */
  remove(contents: readonly IContent[]): void {
    for (const content of contents) {
      const account = this.#accounts.get(content);
      if (account === undefined) continue;
      account.occurrences -= 1;
      this.#book(account, -1);
      if (account.occurrences > 0) continue;
      this.#accounts.delete(content);
      // Listeners of the edit ask for the tokens that it removed.
      if (account.tokens !== undefined) this.#weighed.set(content, account.tokens);
    }
  }

  clear(): void {
    this.#accounts.clear();
    this.#uncounted = [];
    this.#failure = undefined;
    this.#clearSums();
  }

  /** From now on, counts entries only when a caller waits for the counts. */
  close(): void {
    this.#isOnDemand = true;
    clearImmediate(this.#flush);
  }

  /**
   * Resolves when every entry is counted.
   *
   * @throws CtxfoldError `TOKEN_COUNT_FAILED` if counting failed or returned invalid counts; the entries keep their estimates,
   *   and the next call retries.
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
      throw new CtxfoldError(
        `Counting tokens failed: ${cause.message}. The total holds estimates until a later count succeeds.`,
        'TOKEN_COUNT_FAILED',
        { cause },
      );
    }
  }

  /** Tokens of an entry, or `undefined` if it was never counted. */
  countedTokens(content: IContent): number | undefined {
    return this.#accounts.get(content)?.tokens ?? this.#weighed.get(content);
  }

  /**
   * Like `countedTokens`, but `undefined` for an entry of which only a part was counted: a copy must count the whole entry, to know
   * the tokens of each block.
   */
  tokensOfWhole(content: IContent): number | undefined {
    return this.#parts.has(content) ? undefined : this.countedTokens(content);
  }

  /** Stores the known tokens of an entry that may be added. */
  weigh(content: IContent, tokens: number): void {
    this.#weighed.set(content, asTokens(tokens));
  }

  /** Stores the known tokens of some blocks of an entry that may be added; only the others will be counted. */
  weighPart(content: IContent, tokens: number, uncounted: IContent): void {
    this.#parts.set(content, { uncounted, tokens: asTokens(tokens) });
  }

  /** Tokens of each entry; unknown ones are counted and remembered. */
  async countEach(contents: readonly IContent[]): Promise<readonly number[]> {
    const tokens = contents.map((content) => this.countedTokens(content));
    const unknown = contents.filter((_, at) => tokens[at] === undefined);
    const counts = unknown.length === 0 ? [] : await this.#countsOf(unknown);
    unknown.forEach((content, at) => {
      this.weigh(content, counts[at] ?? 0);
    });
    let next = 0;
    return tokens.map((known) => known ?? counts[next++] ?? 0);
  }

  /** Recomputes the sums; the result equals `total` unless there is a bug. */
  recount(): number {
    this.#clearSums();
    for (const account of this.#accounts.values()) this.#book(account, account.occurrences);
    return this.total;
  }

  #openAccount(content: IContent, known: number | undefined): Account {
    const tokens = known === undefined ? this.#weighed.get(content) : asTokens(known);
    const account: Account =
      tokens === undefined
        ? {
            tokens,
            characters: entryCharacters(content),
            fixedTokens: fixedEntryTokens(content),
            occurrences: 0,
          }
        : { tokens, characters: 0, fixedTokens: 0, occurrences: 0 };
    this.#accounts.set(content, account);
    if (tokens === undefined) {
      this.#uncounted.push(content);
      this.#sample(account, content);
    }
    return account;
  }

  /** Adds occurrences of an entry to the sums; negative numbers remove them. */
  #book({ tokens, characters, fixedTokens }: Account, occurrences: number): void {
    if (tokens !== undefined) {
      this.#countedTokens += tokens * occurrences;
      return;
    }
    this.#uncountedCharacters += characters * occurrences;
    this.#uncountedFixedTokens += fixedTokens * occurrences;
    this.#uncountedOccurrences += occurrences;
  }

  #clearSums(): void {
    this.#countedTokens = 0;
    this.#uncountedCharacters = 0;
    this.#uncountedFixedTokens = 0;
    this.#uncountedOccurrences = 0;
  }

  /** Entries added in one macrotask are counted as one batch. */
  #scheduleFlush(): void {
    if (this.#isOnDemand || this.#uncounted.length === 0 || this.#flush !== undefined) return;
    this.#flush = setImmediate(() => {
      this.#flush = undefined;
      this.#flushNow();
    });
  }

  #flushNow(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    if (this.#uncounted.length === 0) return;
    // The batch includes the entries whose count failed before.
    this.#failure = undefined;
    const batch = this.#uncounted.filter((content) => this.#isUncounted(content));
    this.#uncounted = [];
    if (batch.length === 0) return;
    const counted = this.#count(batch);
    this.#underWay = Promise.all([this.#underWay, counted]).then(() => undefined);
  }

  async #count(batch: readonly IContent[]): Promise<void> {
    try {
      const counts = await this.#countsOf(batch);
      batch.forEach((content, at) => {
        this.#recordCount(content, counts[at] ?? 0);
      });
      this.#onChange(this.total);
    } catch (error) {
      this.#failure = asError(error);
      // Requeue without scheduling a flush: a counter that always fails would loop forever.
      this.#uncounted = this.#uncounted.concat(
        batch.filter((content) => this.#isUncounted(content)),
      );
    }
  }

  /** The counter may be custom code, so its answer is validated. */
  async #countsOf(contents: readonly IContent[]): Promise<readonly number[]> {
    const parts = contents.map((content) => this.#parts.get(content));
    const asked = contents.map((content, at) => parts[at]?.uncounted ?? content);
    const counts = await withDeadline(COUNT_TIMEOUT_MS, undefined, countTimeout, async () =>
      this.#countEntries(asked, this.#modelName),
    );
    return wholeCounts(counts, contents.length).map((tokens, at) => {
      const part = parts[at];
      return part === undefined ? tokens : part.tokens + tokens - ENTRY_OVERHEAD_TOKENS;
    });
  }

  #isUncounted(content: IContent): boolean {
    const account = this.#accounts.get(content);
    return account !== undefined && account.tokens === undefined;
  }

  #recordCount(content: IContent, tokens: number): void {
    const account = this.#accounts.get(content);
    if (account === undefined || account.tokens !== undefined) return;
    this.#book(account, -account.occurrences);
    account.tokens = tokens;
    this.#book(account, account.occurrences);
    const textTokens = tokens - account.fixedTokens;
    // Skip invalid counts and entries without text.
    if (textTokens <= 0) return;
    this.#learnedCharacters += account.characters;
    this.#learnedTokens += textTokens;
  }

  #sample({ characters }: Account, content: IContent): void {
    if (this.#learnedTokens > 0) return;
    if (this.#sampledCharacters + characters > SAMPLE_CHARACTERS) return;
    this.#sampledCharacters += characters;
    this.#sampledTokens += estimateEntryTextTokens(content);
  }

  get #charactersPerToken(): number {
    const expected =
      this.#sampledTokens > 0
        ? this.#sampledCharacters / this.#sampledTokens
        : CHARACTERS_PER_TOKEN;
    const learned =
      (this.#learnedCharacters + PRIOR_TOKENS * expected) / (this.#learnedTokens + PRIOR_TOKENS);
    return Math.min(MAX_CHARACTERS_PER_TOKEN, Math.max(MIN_CHARACTERS_PER_TOKEN, learned));
  }
}

/** Whether this is a valid token number: non-negative and finite. Fractions are rounded up. */
export function isTokenCount(count: unknown): count is number {
  return typeof count === 'number' && count >= 0 && Number.isFinite(count);
}

function asTokens(tokens: number): number {
  return isTokenCount(tokens) ? Math.ceil(tokens) : 0;
}

/** Validates and rounds the counts of a batch. @throws CtxfoldError `TOKEN_COUNT_FAILED` unless there is one for each entry. */
function wholeCounts(counts: unknown, entries: number): readonly number[] {
  const given = isArray(counts) || types.isInt32Array(counts) ? Array.from(counts) : [];
  if (given.length === entries && given.every(isTokenCount)) return given.map(Math.ceil);
  throw new CtxfoldError(
    `Expected ${entries} numbers of at least 0, one for each entry, got something else from the counter.`,
    'TOKEN_COUNT_FAILED',
  );
}
