// What a session's requests come to in tokens, with its edits and without: an estimate from what the
// windows made ready. It has no effect on what it measures, and knows no prices.

import type { HistoryService } from '../history-service.js';
import { PrefixTokens } from './prefix-tokens.js';
import type { SentHistory } from './sent-history.js';

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

/**
 * What a session's requests came to. Every pre-send window that closed counts as one request. These are
 * tokens: what they cost is a matter of the provider's prices, which often are about 0.1 of the input
 * price for what is read from a cache, and 1.25 for what is written to one.
 */
export interface CostReport extends RequestTokens {
  readonly requests: number;
  /**
   * The same had no edit ever landed: everything that was added is sent each time, and what was sent
   * before is read from the cache while that is warm. A history that was cleared begins anew.
   */
  readonly uncompacted: RequestTokens;
  /** Requests that began otherwise than the one before, because an edit rewrote what had been sent. */
  readonly rewrites: number;
}

export interface CostMeterOptions {
  readonly history: Pick<
    HistoryService,
    'countedTokens' | 'getRawHistory' | 'getTotalTokens' | 'isCounted' | 'length'
  >;
  readonly sent: Pick<
    SentHistory,
    'intactEntries' | 'isRewritten' | 'isCacheCold' | 'reclaimedTokens'
  >;
}

/** Adds up the windows of one session. */
export class CostMeter {
  readonly #history: CostMeterOptions['history'];
  readonly #sent: CostMeterOptions['sent'];
  readonly #prefixes: PrefixTokens;
  readonly #compacted = new TokenTally();
  readonly #uncompacted = new TokenTally();
  #requests = 0;
  #rewrites = 0;

  constructor({ history, sent }: CostMeterOptions) {
    this.#history = history;
    this.#sent = sent;
    this.#prefixes = new PrefixTokens((entry) => history.countedTokens(entry));
  }

  /** What was added up so far. */
  get report(): CostReport {
    return {
      requests: this.#requests,
      ...this.#compacted.tokens,
      uncompacted: this.#uncompacted.tokens,
      rewrites: this.#rewrites,
    };
  }

  /** Adds the request that the history makes as it stands; to be told before what was sent last is forgotten. */
  preflightCloses(): void {
    const { isRewritten, isCacheCold, intactEntries, reclaimedTokens } = this.#sent;
    const totalTokens = this.#history.getTotalTokens();
    this.#requests += 1;
    if (isRewritten) this.#rewrites += 1;
    this.#prefixes.keep(intactEntries);
    const isRead = !isCacheCold;
    const readTokens =
      isRead && isRewritten
        ? this.#prefixes.sum(this.#history.getRawHistory(), intactEntries, totalTokens)
        : Infinity;
    this.#compacted.add(totalTokens, isRead, readTokens);
    this.#uncompacted.add(totalTokens + reclaimedTokens, isRead, Infinity);
    // What is estimated still will be something else once it is counted.
    if (this.#history.isCounted) this.#prefixes.mark(this.#history.length, totalTokens);
  }
}

/** Sums of one way of sending. */
class TokenTally {
  #sentTokens = 0;
  #readTokens = 0;
  #lastTokens = 0;

  get tokens(): RequestTokens {
    return {
      sentTokens: this.#sentTokens,
      cacheReadTokens: this.#readTokens,
      cacheWriteTokens: this.#sentTokens - this.#readTokens,
    };
  }

  /** @param readTokens the most that can be read from a cache, if anything */
  add(tokens: number, isRead: boolean, readTokens: number): void {
    if (isRead) this.#readTokens += Math.min(readTokens, this.#lastTokens, tokens);
    this.#sentTokens += tokens;
    this.#lastTokens = tokens;
  }
}
