// Token sums over requests and entries, and the limit by which the cost of edits may run ahead of their savings: whenever a session
// ends, it must not have cost much more than without edits. Pure arithmetic.

import type { IContent } from '../../shared/content.js';
import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import { estimateEntryTokens } from '../../shared/tokens/estimate.js';
import type { HistoryService } from '../history-service.js';
import { cachePrices } from '../models/model-prices.js';
import type { CacheTerms } from '../models/session-model.js';
import type { TallyMemory } from '../state/session-state.js';
import type { ContextGauge } from './context-gauge.js';

/** Counted tokens of the history, summed over requests, without overhead and pending tokens. */
export interface RequestTokens {
  readonly sentTokens: number;
  /**
   * What a provider's prompt cache is likely to have served: the common prefix with the previous request, if that request was less
   * than `cacheTtlMs` ago.
   */
  readonly cacheReadTokens: number;
  /** The remainder of what was sent. */
  readonly cacheWriteTokens: number;
}

/** What decides which tokens of a request are read from the cache, and what they cost. Sizes are those of the history. */
export interface CachingTerms extends CachePrices {
  /** Minimum counted tokens for the provider to cache a prefix; 0 or less if every size will do. @default 0 */
  readonly minCachedTokens?: number | undefined;
  /** The prices of requests with more than `tokens` counted tokens. @default the same prices */
  readonly above?: (CachePrices & { readonly tokens: number }) | undefined;
}

interface TermsParts {
  readonly cache: Pick<CacheTerms, 'price' | 'prices'>;
  readonly gauge: Pick<ContextGauge, 'roomTokens'>;
}

/** Returns the terms of a session's present request. */
export function cachingTerms({ cache, gauge }: TermsParts): CachingTerms {
  const { leastCachedTokens = 0, above } = cache.price ?? {};
  return {
    ...cache.prices,
    minCachedTokens: gauge.roomTokens(leastCachedTokens),
    ...(above && {
      above: { ...cachePrices(above), tokens: gauge.roomTokens(above.promptTokens) },
    }),
  };
}

/** Token sums over a session's requests, either as they were sent or as they would have been without edits. */
export class TokenTally {
  #sums: Required<TallyMemory>;

  constructor([sent, read, last, aboveSent = 0, aboveRead = 0]: TallyMemory = [0, 0, 0]) {
    this.#sums = [sent, read, last, aboveSent, aboveRead];
  }

  get memory(): TallyMemory {
    return this.#sums;
  }

  /** Tokens of the last request. */
  get lastTokens(): number {
    return this.#sums[2];
  }

  get tokens(): RequestTokens {
    const [sentTokens, cacheReadTokens] = this.#sums;
    return { sentTokens, cacheReadTokens, cacheWriteTokens: sentTokens - cacheReadTokens };
  }

  /**
   * Adds a request; returns the tokens read from the cache.
   *
   * @param isRead whether the cache still holds the previous request
   * @param readTokens upper bound of what can be read from the cache
   */
  add(
    tokens: number,
    isRead: boolean,
    readTokens: number,
    { minCachedTokens = 0, above }: Omit<CachingTerms, keyof CachePrices> = {},
  ): number {
    const [sent, formerly, last, aboveSent, aboveRead] = this.#sums;
    const prefix = Math.min(readTokens, last, tokens);
    const read = isRead && prefix >= minCachedTokens ? prefix : 0;
    const [more, moreRead] = tokens > (above?.tokens ?? Infinity) ? [tokens, read] : [0, 0];
    this.#sums = [sent + tokens, formerly + read, tokens, aboveSent + more, aboveRead + moreRead];
    return read;
  }

  /** The cost of all requests plus one more that extends the last one: tokens times the given prices per token. */
  costWith(tokens: number, { minCachedTokens, above, ...prices }: CachingTerms): number {
    const next = new TokenTally(this.#sums);
    next.add(tokens, true, Infinity, { minCachedTokens, above });
    const [sent, read, , aboveSent, aboveRead] = next.#sums;
    const cost = costOf(prices, read, sent);
    if (above === undefined) return cost;
    return cost + costOf(above, aboveRead, aboveSent) - costOf(prices, aboveRead, aboveSent);
  }
}

function costOf({ read, write }: CachePrices, readTokens: number, tokens: number): number {
  return read * readTokens + write * (tokens - readTokens);
}

/** A session may cost at most this many times what it would cost without edits. */
const MAX_COST_RATIO = 1.05;

/**
 * Returns the maximum of what an edit costs minus what it saves in the next request: tokens times the given prices per token. It
 * assumes the warmest possible cache. Below it, the total stays within 1.05 times the cost without any edit, even if the session
 * ends after that request.
 *
 * @param tokens tokens of the next request without the edit
 * @param fullTokens tokens of the next request had no edit ever landed
 */
export function spendable(
  sent: TokenTally,
  tokens: number,
  unedited: TokenTally,
  fullTokens: number,
  prices: CachingTerms,
): number {
  return MAX_COST_RATIO * unedited.costWith(fullTokens, prices) - sent.costWith(tokens, prices);
}

/** Entries between two remembered prefix sums: a tradeoff between their number and the entries to add up for a sum. */
const MARK_ENTRIES = 256;

interface Mark {
  readonly entries: number;
  readonly tokens: number;
}

/** Prefix sums of one history's tokens, remembered at intervals. The caller must report rewrites to `keep`. */
export class PrefixTokens {
  readonly #counts: TokenCounts;
  /** Ascending. */
  readonly #marks: Mark[] = [];

  constructor(counts: TokenCounts) {
    this.#counts = counts;
  }

  /** Forgets the sums over more than the first `entries` entries, because the rest was rewritten. */
  keep(entries: number): void {
    while ((this.#marks.at(-1)?.entries ?? 0) > entries) this.#marks.pop();
  }

  /** Remembers the sum over the first `entries` entries, if it is far enough from the last one. */
  mark(entries: number, tokens: number): void {
    const last = this.#marks.at(-1)?.entries ?? 0;
    if (entries - last >= MARK_ENTRIES) this.#marks.push({ entries, tokens });
  }

  /**
   * Sums the tokens of a history's first `entries` entries, from the last remembered sum or back from the end, whichever is nearer.
   *
   * @param entries at least as many as the last remembered sum covers
   * @param totalTokens tokens of the whole history
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
    // By index: the range may be most of the history, and a copy of it would be made in each request.
    for (let at = start; at < end; at += 1)
      tokens += tokensOf(history[at] as IContent, this.#counts);
    return tokens;
  }
}

/** Tells the tokens of entries that are counted. */
export type TokenCounts = Pick<HistoryService, 'countedTokens'>;

/** Cache of estimates: until entries are counted, held edits are weighed in every preflight. */
const ESTIMATES = new WeakMap<IContent, number>();

/** Tokens of an entry: the count, or an estimate if it is not counted. */
export function tokensOf(entry: IContent, counts: TokenCounts): number {
  return counts.countedTokens(entry) ?? estimated(entry);
}

/** Tokens of several entries together. */
export function sumTokens(entries: readonly IContent[], counts: TokenCounts): number {
  return entries.reduce((tokens, entry) => tokens + tokensOf(entry, counts), 0);
}

function estimated(entry: IContent): number {
  let tokens = ESTIMATES.get(entry);
  if (tokens === undefined) {
    tokens = estimateEntryTokens(entry);
    ESTIMATES.set(entry, tokens);
  }
  return tokens;
}

/** The estimated ratio of a replacement's tokens to those of the entry it replaces, for replacements that are not counted. */
export function shareOf(after: IContent, before: IContent): number {
  return estimateEntryTokens(after) / Math.max(1, estimated(before));
}
