// Sums of the tokens of requests, and how far edits may run ahead of what they save: so that no session costs much more with them
// than without, whenever it ends. Pure arithmetic.

import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import type { TallyMemory } from '../state/session-memory.js';

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
