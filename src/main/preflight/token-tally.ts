// Sums of the tokens of requests, and how far edits may run ahead of what they save: so that no session costs much more with them
// than without, whenever it ends. Pure arithmetic.

import type { IContent } from '../../shared/content.js';
import type { DensityResult } from '../../shared/density.js';
import { estimateEntryTokens } from '../../shared/tokens/estimate.js';
import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import type { TallyMemory } from '../state/session-state.js';

/** Counted tokens of a history, summed over requests; overhead and pending tokens are not among them. */
export interface RequestTokens {
  readonly sentTokens: number;
  /**
   * What a provider's prompt cache is likely to have answered: the part that the request before began
   * with, too, when that was less than `cacheTtlMs` ago.
   */
  readonly cacheReadTokens: number;
  /** The rest of what was sent. */
  readonly cacheWriteTokens: number;
}

/** What caching costs, and what a prefix has to have for it. @default all are cached */
type CachingTerms = CachePrices & { readonly toBeCached?: number };

/** Sums of one way of sending. */
export class TokenTally {
  #sentTokens: number;
  #readTokens: number;
  #lastTokens: number;

  constructor([sent, read, last]: TallyMemory = [0, 0, 0]) {
    this.#sentTokens = sent;
    this.#readTokens = read;
    this.#lastTokens = last;
  }

  get memory(): TallyMemory {
    return [this.#sentTokens, this.#readTokens, this.#lastTokens];
  }

  /** Those of the last request. */
  get lastTokens(): number {
    return this.#lastTokens;
  }

  get tokens(): RequestTokens {
    return {
      sentTokens: this.#sentTokens,
      cacheReadTokens: this.#readTokens,
      cacheWriteTokens: this.#sentTokens - this.#readTokens,
    };
  }

  /**
   * Returns what is read.
   *
   * @param readTokens the most that can be read from a cache, if anything
   * @param toBeCached what a prefix has to have to be cached
   */
  add(tokens: number, isRead: boolean, readTokens: number, toBeCached: number = 0): number {
    const prefix = Math.min(readTokens, this.#lastTokens, tokens);
    const read = isRead && prefix >= toBeCached ? prefix : 0;
    this.#readTokens += read;
    this.#sentTokens += tokens;
    this.#lastTokens = tokens;
    return read;
  }

  /** What all requests have cost and one more that goes on from the last, in the unit of the prices for a token. */
  costWith(tokens: number, { read, write, toBeCached = 0 }: CachingTerms): number {
    const prefix = Math.min(this.#lastTokens, tokens);
    const readTokens = this.#readTokens + (prefix >= toBeCached ? prefix : 0);
    return read * readTokens + write * (this.#sentTokens + tokens - readTokens);
  }
}

/** A session may have cost so many times what it costs without edits. */
const MOST_COST = 1.05;

/**
 * Returns what an edit may cost more than it saves in the request that is about to be made, in the unit of the prices for a token, with
 * the request as warm as can be: then all requests have cost at most 1.05 times what they would have without any edit, and
 * would if none came after it.
 *
 * @param tokens of the request without the edit
 * @param fullTokens of the request had no edit ever landed
 */
export function spendable(
  sent: TokenTally,
  tokens: number,
  unedited: TokenTally,
  fullTokens: number,
  prices: CachingTerms,
): number {
  return MOST_COST * unedited.costWith(fullTokens, prices) - sent.costWith(tokens, prices);
}

/** Entries between two sums, so that few are kept and few entries have to be added up. */
const MARK_ENTRIES = 256;

interface Mark {
  readonly entries: number;
  readonly tokens: number;
}

/** Sums of one history. Rewrites are told by `keep`. */
export class PrefixTokens {
  readonly #countedTokens: CountedTokens;
  /** Ascending. */
  readonly #marks: Mark[] = [];

  constructor(countedTokens: CountedTokens) {
    this.#countedTokens = countedTokens;
  }

  /** Forgets all but the sums of these first entries: the others were rewritten. */
  keep(entries: number): void {
    while ((this.#marks.at(-1)?.entries ?? 0) > entries) this.#marks.pop();
  }

  /** Notes what the first entries hold. */
  mark(entries: number, tokens: number): void {
    const last = this.#marks.at(-1)?.entries ?? 0;
    if (entries - last >= MARK_ENTRIES) this.#marks.push({ entries, tokens });
  }

  /**
   * Adds up the first entries of a history, from the last sum before them or from the end.
   *
   * @param entries no less than the last sum that is kept
   * @param totalTokens of the whole history
   */
  sum(history: readonly IContent[], entries: number, totalTokens: number): number {
    const from = this.#marks.at(-1) ?? { entries: 0, tokens: 0 };
    if (history.length - entries < entries - from.entries) {
      const tokens = totalTokens - this.#add(history, entries, history.length);
      this.mark(entries, tokens);
      return tokens;
    }
    let { tokens } = from;
    for (let start = from.entries; start < entries; start += MARK_ENTRIES) {
      const end = Math.min(entries, start + MARK_ENTRIES);
      tokens += this.#add(history, start, end);
      this.mark(end, tokens);
    }
    return tokens;
  }

  #add(history: readonly IContent[], start: number, end: number): number {
    let tokens = 0;
    for (let index = start; index < end; index += 1) {
      const entry = history[index];
      if (entry !== undefined) tokens += tokensOf(entry, this.#countedTokens);
    }
    return tokens;
  }
}

/** Returns the tokens of an entry, or `undefined` when nobody has counted it. */
export type CountedTokens = (entry: IContent) => number | undefined;

/** By entry: until they are counted, edits that do not pay yet are weighed again and again. */
const ESTIMATES = new WeakMap<IContent, number>();

/** Tokens of an entry of a history, counted or else estimated. */
export function tokensOf(entry: IContent, countedTokens: CountedTokens): number {
  return countedTokens(entry) ?? estimated(entry);
}

function estimated(entry: IContent): number {
  let tokens = ESTIMATES.get(entry);
  if (tokens === undefined) {
    tokens = estimateEntryTokens(entry);
    ESTIMATES.set(entry, tokens);
  }
  return tokens;
}

/**
 * About how many tokens a history loses by an edit. An entry that is put in place and was not counted
 * is taken to have as many per character as the one that it replaces.
 */
export function reclaimedTokens(
  { removals, replacements }: DensityResult,
  history: readonly IContent[],
  countedTokens: CountedTokens,
): number {
  let reclaimed = 0;
  for (const index of removals) {
    const before = history[index];
    if (before !== undefined) reclaimed += tokensOf(before, countedTokens);
  }
  for (const [index, after] of replacements) {
    const before = history[index];
    if (before === undefined) continue;
    const tokens = tokensOf(before, countedTokens);
    reclaimed += tokens - (countedTokens(after) ?? tokens * shareOf(after, before));
  }
  return Math.round(reclaimed);
}

/** What an entry that takes the place of another has of its tokens, by characters: nobody has counted it. */
export function shareOf(after: IContent, before: IContent): number {
  return estimateEntryTokens(after) / Math.max(1, estimated(before));
}
