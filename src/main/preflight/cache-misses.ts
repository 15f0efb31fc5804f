// Detects prompt cache misses from the provider's usage reports, and their cause. Keeps only the last reported request; sees no
// entries and emits nothing.

import { asObject, assertString, assertTokens } from '../../shared/misuse.js';
import type { CacheTerms, ModelPrice } from '../models/model-prices.js';
import type { UsageReport } from './context-gauge.js';
import type { SentHistory } from './sent-history.js';

/**
 * Why a request read less from the cache than the previous one had left there. `expired`: the cache lifetime has passed.
 * `edit`: an edit of the session rewrote what was sent. `changed-request`: neither; tools, system text or something else in the
 * request changed, or the provider evicted it.
 */
export type CacheMissCause = 'edit' | 'expired' | 'changed-request';

/** A request read much less from the provider's cache than it could have. */
export interface CacheMissedEvent {
  /** What the previous request had left to read, in the model's own tokens; at most the size of this request. */
  readonly expectedTokens: number;
  readonly readTokens: number;
  readonly cause: CacheMissCause;
  /** The reason as the provider reported it. */
  readonly reason?: string;
}

/** A request compared with the previously reported one. */
export interface CacheRead {
  /** All input tokens of the previous request. */
  readonly formerTokens: number;
  /** All input tokens of this request. */
  readonly inputTokens: number;
  readonly readTokens: number;
  /** Milliseconds between the two. */
  readonly elapsedMs: number;
  readonly ttlMs: number;
  /** Whether an edit has rewritten what the previous request held. */
  readonly isRewritten: boolean;
  readonly price: ModelPrice | undefined;
  readonly reason?: string | undefined;
}

/**
 * Reading less than this share of the expected tokens is a miss. The tokens after a request's last cache mark are never read.
 */
const MISSED_BELOW = 0.5;

/** The highest minimum prompt length for caching among known models. */
const USUAL_LEAST_TOKENS = 4_096;

/** Maximum length of a reported miss reason, in characters. */
export const MAX_REASON_LENGTH = 200;

/** Returns the cache miss of a request, or `null` if it read about what was expected, or nothing was cached. */
export function judgeCacheRead(read: CacheRead): CacheMissedEvent | null {
  const { formerTokens, inputTokens, readTokens, price, reason } = read;
  const expectedTokens = Math.min(formerTokens, inputTokens);
  if (expectedTokens < (price?.leastCachedTokens ?? USUAL_LEAST_TOKENS)) return null;
  if (readTokens >= expectedTokens * MISSED_BELOW) return null;
  const miss = { expectedTokens, readTokens, cause: causeOf(read) };
  return reason === undefined ? miss : { ...miss, reason };
}

/** After expiry, an edit costs nothing, so it is not the cause. */
function causeOf({ elapsedMs, ttlMs, isRewritten }: CacheRead): CacheMissCause {
  if (elapsedMs >= ttlMs) return 'expired';
  return isRewritten ? 'edit' : 'changed-request';
}

/** Whether a model caches implicitly, without guarantees: cache writes are free, or nothing is known of it. */
export function isCacheImplicit(price: ModelPrice | undefined): boolean {
  return price === undefined || price.cacheWrite <= price.input;
}

/**
 * Validates what a report says of the cache.
 *
 * @throws TypeError or RangeError for invalid token counts, more cache reads than input, or a reason that is too long.
 */
export function assertCacheReport(report: UsageReport): void {
  asObject(report, 'the report of usage', 'an object');
  const { inputTokens, cacheReadTokens, cacheMissReason } = report;
  assertTokens('inputTokens', inputTokens);
  if (cacheReadTokens !== undefined) {
    assertTokens('cacheReadTokens', cacheReadTokens);
    if (cacheReadTokens > inputTokens)
      throw new RangeError(
        `Expected cacheReadTokens of at most the ${inputTokens} of the input, got ${cacheReadTokens}.`,
      );
  }
  if (cacheMissReason === undefined) return;
  assertString('cacheMissReason', cacheMissReason);
  if (cacheMissReason.length > MAX_REASON_LENGTH)
    throw new RangeError(`Expected cacheMissReason of at most ${MAX_REASON_LENGTH} characters.`);
}

export interface CacheMissesOptions {
  readonly sent: Pick<SentHistory, 'idleMs' | 'isRewritten'>;
  readonly history: { readonly modelName?: string | undefined };
  readonly cache: Pick<CacheTerms, 'price' | 'ttlMs'>;
}

interface FormerRequest {
  readonly inputTokens: number;
  readonly sentTo: string | undefined;
  readonly answeredBy: string | undefined;
}

/** Compares each request of a session with the previous one. */
export class CacheMisses {
  readonly #options: CacheMissesOptions;
  #former: FormerRequest | undefined;
  /** Accumulated since the last reported request. */
  #elapsedMs = 0;
  #ttlMs = Infinity;
  #isRewritten = false;
  /** The request that is still waiting for its report. */
  #ready: { readonly sentTo: string | undefined } | undefined;
  #missesInARow = 0;

  constructor(options: CacheMissesOptions) {
    this.#options = options;
  }

  /** From here on a report could belong to the next request. */
  preflightOpens(): void {
    this.#ready = undefined;
  }

  /** Call before `SentHistory.preflightCloses`, which forgets what was sent last. */
  preflightCloses(): void {
    const { sent, history, cache } = this.#options;
    const { idleMs, isRewritten } = sent;
    // Nothing of this history was sent before: it is new or was cleared.
    if (idleMs === Infinity) this.#former = undefined;
    this.#elapsedMs += idleMs;
    this.#ttlMs = cache.ttlMs;
    this.#isRewritten ||= isRewritten;
    this.#ready = { sentTo: history.modelName };
  }

  /** Takes a validated report; returns the request's cache miss if it should be emitted. */
  report({
    inputTokens,
    modelName,
    cacheReadTokens,
    cacheMissReason,
  }: UsageReport): CacheMissedEvent | null {
    if (this.#ready === undefined) return null;
    const former = this.#former;
    const sentTo = this.#ready.sentTo ?? modelName;
    const request = { inputTokens, sentTo, answeredBy: modelName ?? sentTo };
    const between = {
      elapsedMs: this.#elapsedMs,
      ttlMs: this.#ttlMs,
      isRewritten: this.#isRewritten,
    };
    this.#former = request;
    this.#ready = undefined;
    this.#elapsedMs = 0;
    this.#isRewritten = false;
    if (former === undefined || !isSameModel(former, request) || cacheReadTokens === undefined) {
      this.#missesInARow = 0;
      return null;
    }
    const { price } = this.#options.cache;
    const missed = judgeCacheRead({
      ...{ ...between, formerTokens: former.inputTokens, inputTokens, price },
      ...{ readTokens: cacheReadTokens, reason: cacheMissReason },
    });
    this.#missesInARow = missed === null ? 0 : this.#missesInARow + 1;
    const isSure =
      !isCacheImplicit(price) || this.#missesInARow > 1 || cacheMissReason !== undefined;
    return isSure ? missed : null;
  }
}

function isSameModel(one: FormerRequest, other: FormerRequest): boolean {
  return one.sentTo === other.sentTo && one.answeredBy === other.answeredBy;
}
