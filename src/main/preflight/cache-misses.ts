// Judges by what a provider read from its cache whether it should have read more, and why it did not. Keeps only the
// last request that was reported; sees no entry, and tells nobody itself.

import { assertString, assertTokens } from '../../shared/misuse.js';
import type { CacheTerms, ModelPrice } from '../models/model-prices.js';
import type { UsageReport } from './context-gauge.js';
import type { SentHistory } from './sent-history.js';

/**
 * Why a request read less from the cache than the one before had left there. `expired`: more time has passed than the cache
 * lasts. `edit`: an edit of the session has rewritten what was sent. `changed-request`: neither; tools, system text or
 * something else of the request is another, or the provider has let go of it.
 */
export type CacheMissCause = 'edit' | 'expired' | 'changed-request';

/** A request read much less from the provider's cache than it could have. */
export interface CacheMissedEvent {
  /** What the request before had left to read, in the model's own tokens; no more than the request held. */
  readonly expectedTokens: number;
  readonly readTokens: number;
  readonly cause: CacheMissCause;
  /** The provider's own word for it, as it was reported. */
  readonly reason?: string;
}

/** A request and what came between it and the one that was reported before. */
export interface CacheRead {
  /** All tokens of the input of the request before. */
  readonly formerTokens: number;
  /** All tokens of the input of this one. */
  readonly inputTokens: number;
  readonly readTokens: number;
  /** Milliseconds from the one to the other. */
  readonly elapsedMs: number;
  readonly ttlMs: number;
  /** Whether an edit has rewritten what the request before held. */
  readonly isRewritten: boolean;
  readonly price: ModelPrice | undefined;
  readonly reason?: string | undefined;
}

/** Below this share of what was to be read it is a miss. What follows the last mark of a request is never read. */
const MISSED_BELOW = 0.5;

/** The most that any known model asks of a prompt before it caches it. */
const USUAL_LEAST_TOKENS = 4_096;

/** Of what a provider says of a miss, in characters. */
export const MAX_REASON_LENGTH = 200;

/** Returns what a request missed of the cache, or `null` when it read about what there was, or nothing was cached. */
export function judgeCacheRead(read: CacheRead): CacheMissedEvent | null {
  const { formerTokens, inputTokens, readTokens, price, reason } = read;
  const expectedTokens = Math.min(formerTokens, inputTokens);
  if (expectedTokens < (price?.leastCachedTokens ?? USUAL_LEAST_TOKENS)) return null;
  if (readTokens >= expectedTokens * MISSED_BELOW) return null;
  const miss = { expectedTokens, readTokens, cause: causeOf(read) };
  return reason === undefined ? miss : { ...miss, reason };
}

/** An edit behind an expired cache has cost nothing: it is not what the miss comes from. */
function causeOf({ elapsedMs, ttlMs, isRewritten }: CacheRead): CacheMissCause {
  if (elapsedMs >= ttlMs) return 'expired';
  return isRewritten ? 'edit' : 'changed-request';
}

/** Whether a model caches by itself and promises nothing: where writing costs nothing, or nothing is known. */
export function isCacheImplicit(price: ModelPrice | undefined): boolean {
  return price === undefined || price.cacheWrite <= price.input;
}

/**
 * Checks what a report says of the cache.
 *
 * @throws TypeError or RangeError for what is no number of tokens, more than the input, or no short reason.
 */
export function assertCacheReport({
  inputTokens,
  cacheReadTokens,
  cacheMissReason,
}: UsageReport): void {
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
  /** The model that requests are sent to, as it was named last. */
  readonly history: { readonly modelName?: string | undefined };
  readonly cache: Pick<CacheTerms, 'price' | 'ttlMs'>;
}

/** A request that was reported. */
interface FormerRequest {
  readonly inputTokens: number;
  readonly sentTo: string | undefined;
  readonly answeredBy: string | undefined;
}

/** Holds each request of one session against the one before. */
export class CacheMisses {
  readonly #options: CacheMissesOptions;
  #former: FormerRequest | undefined;
  /** What came since the request that was reported last. */
  #elapsedMs = 0;
  #ttlMs = Infinity;
  #isRewritten = false;
  /** The request that no report has come for. */
  #ready: { readonly sentTo: string | undefined } | undefined;
  #missesInARow = 0;

  constructor(options: CacheMissesOptions) {
    this.#options = options;
  }

  /** From here on a report cannot be told from one for the next request. */
  preflightOpens(): void {
    this.#ready = undefined;
  }

  /** To be told before what was sent last is forgotten. */
  preflightCloses(): void {
    const { sent, history, cache } = this.#options;
    const { idleMs, isRewritten } = sent;
    // Nothing of the history was sent before: it is new, or was cleared.
    if (idleMs === Infinity) this.#former = undefined;
    this.#elapsedMs += idleMs;
    this.#ttlMs = cache.ttlMs;
    this.#isRewritten ||= isRewritten;
    this.#ready = { sentTo: history.modelName };
  }

  /** Takes a report that was checked; returns what the request missed, if that is to be told. */
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
