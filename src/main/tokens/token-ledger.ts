// Who owes what: the tokens of every entry of a history, counted once each, and their sum. Counts
// arrive later from elsewhere; until then an estimate stands in, by what earlier counts have taught.

import type { IContent } from '../../shared/content.js';
import { asError, CtxfoldError } from '../../shared/errors.js';
import { isArray } from '../../shared/misuse.js';
import { ENTRY_OVERHEAD_TOKENS, fixedEntryTokens } from '../../shared/tokens/content-text.js';
import {
  CHARACTERS_PER_TOKEN,
  entryCharacters,
  estimateEntryTextTokens,
} from '../../shared/tokens/estimate.js';
import { endsWithin } from '../waiting/abortable.js';
import { clearImmediate, setImmediate } from '../waiting/event-loop-turn.js';

/** Counts the tokens of each entry, in their order; `modelName` is the model that they are meant for, if known. */
export type CountEntries = (
  contents: readonly IContent[],
  modelName: string | undefined,
) => Promise<readonly number[]>;

/** Tokens of entries; `undefined` where they are not known. */
export type KnownTokens = readonly (number | undefined)[];

interface Account {
  /** `undefined` until it is counted. */
  tokens: number | undefined;
  /** UTF-16 units of its texts; 0 where its tokens were known before it came in. */
  readonly characters: number;
  /** Tokens that depend on no text; 0 there as well. */
  readonly fixedTokens: number;
  /** How often the entry stands in the history. */
  occurrences: number;
}

interface UncountedPart {
  /** The entry with these blocks of it alone. */
  readonly uncounted: IContent;
  /** Of all else of it. */
  readonly tokens: number;
}

/** Limits for what is learned: a token is no less than a character or so, and seldom more than a word. */
const MIN_CHARACTERS_PER_TOKEN = 1;
const MAX_CHARACTERS_PER_TOKEN = 8;

/** Tokens of what is expected before any count that the learning begins with, so that one short entry does not decide. */
const PRIOR_TOKENS = 32;

/** Characters that are read for what to expect, once in the life of a history and in 3 ms: a look at every character would be felt. */
const SAMPLE_CHARACTERS = 2 ** 19;

/** Time that one batch may take. Far more than any counter needs; what counts in workers has deadlines of its own. */
const COUNT_TIMEOUT_MS = 300_000;

function countTimeout(): Error {
  return new CtxfoldError(
    `The counter gave no answer within ${COUNT_TIMEOUT_MS} ms.`,
    'TOKEN_COUNT_FAILED',
  );
}

const NONE_KNOWN: KnownTokens = [];

/** Keeps the books of one history. */
export class TokenLedger {
  readonly #countEntries: CountEntries;
  readonly #onChange: (totalTokens: number) => void;
  readonly #accounts = new Map<IContent, Account>();
  /** Counts of entries that may yet come in: what a compression makes is weighed before it is. */
  readonly #weighed = new WeakMap<IContent, number>();
  /** Of entries that may come in, what of them is to be counted, and the tokens of the rest. */
  readonly #parts = new WeakMap<IContent, UncountedPart>();
  #uncounted: IContent[] = [];
  #flush: NodeJS.Immediate | undefined;
  /** Ends when all batches that are under way have ended, well or not. */
  #underWay: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #modelName: string | undefined;
  #countedTokens = 0;
  /** What the sum of all entries that are not counted yet is estimated from; how many they are. */
  #uncountedCharacters = 0;
  #uncountedFixedTokens = 0;
  #uncountedOccurrences = 0;
  /** Texts that were counted so far. They stay learned when their entries leave. */
  #learnedCharacters = 0;
  #learnedTokens = 0;
  /** Texts that were read before anything was counted, and about how many tokens they have. */
  #sampledCharacters = 0;
  #sampledTokens = 0;

  /** @param onChange called with the new total when counts have arrived */
  constructor(countEntries: CountEntries, onChange: (totalTokens: number) => void) {
    this.#countEntries = countEntries;
    this.#onChange = onChange;
  }

  /**
   * Tokens of all entries, each occurrence of one counted. Entries without a count are estimated by
   * the characters per token of those that were counted so far.
   */
  get total(): number {
    if (this.isCounted) return this.#countedTokens;
    const textTokens = Math.ceil(this.#uncountedCharacters / this.#charactersPerToken);
    return this.#countedTokens + this.#uncountedFixedTokens + textTokens;
  }

  /** Whether no part of the total is an estimate in want of a count. */
  get isCounted(): boolean {
    return this.#uncountedOccurrences === 0;
  }

  /**
   * Enters entries; what was never counted is queued for it.
   *
   * @param modelName is meant from now on
   * @param tokens of the first of them, as far as somebody knows
   */
  add(contents: readonly IContent[], modelName?: string, tokens: KnownTokens = NONE_KNOWN): void {
    this.#modelName = modelName ?? this.#modelName;
    for (let at = 0; at < contents.length; at += 1) {
      const content = contents[at] as IContent;
      const account = this.#accounts.get(content) ?? this.#open(content, tokens[at]);
      account.occurrences += 1;
      this.#book(account, 1);
    }
    this.#scheduleFlush();
  }

  /** Strikes entries off, one occurrence each. A count that is still under way for one is ignored. */
  remove(contents: readonly IContent[]): void {
    for (const content of contents) {
      const account = this.#accounts.get(content);
      if (account === undefined) continue;
      account.occurrences -= 1;
      this.#book(account, -1);
      if (account.occurrences > 0) continue;
      this.#accounts.delete(content);
      // Whoever is told of the edit asks what it took away.
      if (account.tokens !== undefined) this.#weighed.set(content, account.tokens);
    }
  }

  /** Strikes everything off. */
  clear(): void {
    this.#accounts.clear();
    this.#uncounted = [];
    this.#failure = undefined;
    this.#clearSums();
  }

  /**
   * Resolves when every entry is counted.
   *
   * @throws CtxfoldError `TOKEN_COUNT_FAILED` when counting failed, or gave what are no counts; the entries keep
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
      throw new CtxfoldError(
        `Counting tokens failed: ${cause.message}. The total holds estimates until a later count succeeds.`,
        'TOKEN_COUNT_FAILED',
        { cause },
      );
    }
  }

  /** Tokens of an entry, or `undefined` when it was never counted. */
  countedTokens(content: IContent): number | undefined {
    return this.#accounts.get(content)?.tokens ?? this.#weighed.get(content);
  }

  /** The same, but `undefined` for an entry that was counted by parts: a mirror that counts all of it knows each of its blocks then. */
  tokensOfWhole(content: IContent): number | undefined {
    return this.#parts.has(content) ? undefined : this.countedTokens(content);
  }

  /** Notes the tokens of an entry that may come in, when they are known without a count. */
  weigh(content: IContent, tokens: number): void {
    this.#weighed.set(content, asTokens(tokens));
  }

  /** Notes the tokens of an entry that may come in, but for those of some of its blocks, which are counted instead of all. */
  weighPart(content: IContent, tokens: number, uncounted: IContent): void {
    this.#parts.set(content, { uncounted, tokens: asTokens(tokens) });
  }

  /** Tokens of each entry; those of the history from the books, others counted now and remembered. */
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

  /** Sums the books anew; equal to `total` unless there is a defect. */
  recount(): number {
    this.#clearSums();
    for (const account of this.#accounts.values()) this.#book(account, account.occurrences);
    return this.total;
  }

  #open(content: IContent, known: number | undefined): Account {
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

  /** Adds occurrences of an entry to the sums, or takes them off. */
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
      const counts = await this.#countsOf(batch);
      batch.forEach((content, at) => {
        this.#enter(content, counts[at] ?? 0);
      });
      this.#onChange(this.total);
    } catch (error) {
      this.#failure = asError(error);
      // Back in line, without a flush of its own: a counter that always fails would never rest.
      this.#uncounted = this.#uncounted.concat(
        batch.filter((content) => this.#isUncounted(content)),
      );
    }
  }

  /** Counts by whoever counts, which may be anybody's code. */
  async #countsOf(contents: readonly IContent[]): Promise<readonly number[]> {
    const parts = contents.map((content) => this.#parts.get(content));
    const asked = contents.map((content, at) => parts[at]?.uncounted ?? content);
    const counting = this.#countEntries(asked, this.#modelName);
    const counts = await endsWithin(COUNT_TIMEOUT_MS, countTimeout, Promise.resolve(counting));
    return wholeCounts(counts, contents.length).map((tokens, at) => {
      const part = parts[at];
      return part === undefined ? tokens : part.tokens + tokens - ENTRY_OVERHEAD_TOKENS;
    });
  }

  #isUncounted(content: IContent): boolean {
    const account = this.#accounts.get(content);
    return account !== undefined && account.tokens === undefined;
  }

  #enter(content: IContent, tokens: number): void {
    const account = this.#accounts.get(content);
    if (account === undefined || account.tokens !== undefined) return;
    this.#book(account, -account.occurrences);
    account.tokens = tokens;
    this.#book(account, account.occurrences);
    this.#learn(account.characters, tokens - account.fixedTokens);
  }

  #sample({ characters }: Account, content: IContent): void {
    if (this.#learnedTokens > 0) return;
    if (this.#sampledCharacters + characters > SAMPLE_CHARACTERS) return;
    this.#sampledCharacters += characters;
    this.#sampledTokens += estimateEntryTextTokens(content);
  }

  #learn(characters: number, textTokens: number): void {
    // Nothing is learned from a count that is nonsense, or from an entry without text.
    if (textTokens <= 0) return;
    this.#learnedCharacters += characters;
    this.#learnedTokens += textTokens;
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

/** Whether this can be a number of tokens: 0 or more, and finite. A fraction is rounded up. */
export function isTokenCount(count: unknown): count is number {
  return typeof count === 'number' && count >= 0 && Number.isFinite(count);
}

function asTokens(tokens: number): number {
  return isTokenCount(tokens) ? Math.ceil(tokens) : 0;
}

/** The counts of a batch, whole. @throws CtxfoldError `TOKEN_COUNT_FAILED` when that is not one count for each. */
function wholeCounts(counts: unknown, entries: number): readonly number[] {
  const given = isArray(counts) || counts instanceof Int32Array ? Array.from(counts) : [];
  if (given.length === entries && given.every(isTokenCount)) return given.map(Math.ceil);
  throw new CtxfoldError(
    `Expected ${entries} numbers of at least 0, one for each entry, got something else from the counter.`,
    'TOKEN_COUNT_FAILED',
  );
}
