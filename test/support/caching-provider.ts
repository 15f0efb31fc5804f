// Providers with a prompt cache, after the documentation of Anthropic and OpenAI: prefixes, a TTL that a read renews, a
// minimum length, and usage as they report it. They bill by the price table and know why a request missed, but return no
// answers.

import { createHash } from 'node:crypto';
import type { ModelPrice } from '../../src/main/models/price-table.js';
import { atLifetime } from '../../src/main/models/model-prices.js';

/** The content of a request in order, and how long to cache it. */
export interface CachedRequest {
  /** System text and tools, which come first. */
  readonly head: string;
  readonly parts: readonly string[];
  readonly ttlMs: number;
  /**
   * Cache marks, if the provider caches only there: the parts at which entries are written, and the position of each part. A
   * mark finds entries at most 20 positions before it. @default all prefixes are cached and found
   */
  readonly marks?: { readonly parts: readonly number[]; readonly positions: readonly number[] };
}

/** Positions that a mark looks back, including its own. */
const LOOKBACK = 20;

/** The bill of a request, in the provider's tokens. */
export interface Billed {
  readonly inputTokens: number;
  readonly readTokens: number;
  readonly dollars: number;
  /** Why less than half of what the previous request cached was read; `undefined` if more was. */
  readonly missed?: 'expired' | 'edit' | 'changed-request' | undefined;
}

/** The cache of one model. */
export class CachingProvider {
  readonly billed: Billed[] = [];
  readonly #price: ModelPrice;
  readonly #now: () => number;
  /** By hash of a prefix, when it expires. */
  readonly #cached = new Map<string, { expiresMs: number; readonly ttlMs: number }>();
  #former: (CachedRequest & { readonly atMs: number; readonly tokens: number }) | undefined;

  constructor(price: ModelPrice, now: () => number) {
    this.#price = price;
    this.#now = now;
  }

  /** The cost of all requests, in dollars. */
  get dollars(): number {
    return this.billed.reduce((sum, { dollars }) => sum + dollars, 0);
  }

  /** Bills a request and caches it. */
  take(request: CachedRequest): Billed {
    const atMs = this.#now();
    const hash = createHash('sha256');
    let [tokens, readTokens] = [0, 0];
    const { leastCachedTokens = 0 } = this.#price;
    const prefixes: string[] = [];
    // The head is at index -1.
    for (const [at, part] of [request.head, ...request.parts].entries()) {
      tokens += tokensOf(part);
      const prefix = hash.update(`${part}\0`).copy().digest('base64');
      if (tokens < leastCachedTokens) continue;
      const known = this.#cached.get(prefix);
      const isFound = isLookedFor(request, at - 1);
      if (isFound && known !== undefined && known.expiresMs > atMs) readTokens = tokens;
      if (request.marks?.parts.includes(at - 1) ?? true) prefixes.push(prefix);
    }
    for (const prefix of prefixes)
      this.#cached.set(prefix, { expiresMs: atMs + request.ttlMs, ttlMs: request.ttlMs });
    const price = atLifetime(this.#price, request.ttlMs);
    const terms = price.above && tokens > price.above.promptTokens ? price.above : price;
    const fresh = tokens < leastCachedTokens ? terms.input : terms.cacheWrite;
    const dollars = (readTokens * terms.cacheRead + (tokens - readTokens) * fresh) / 1e6;
    const billed = {
      ...{ inputTokens: tokens, readTokens, dollars },
      missed: this.#missed(request, atMs, tokens, readTokens),
    };
    this.#former = { ...request, atMs, tokens };
    this.billed.push(billed);
    return billed;
  }

  #missed(
    { head }: CachedRequest,
    atMs: number,
    tokens: number,
    readTokens: number,
  ): Billed['missed'] {
    const former = this.#former;
    if (former === undefined) return undefined;
    const expected = Math.min(former.tokens, tokens);
    if (expected < (this.#price.leastCachedTokens ?? 0) || readTokens >= expected / 2)
      return undefined;
    if (atMs - former.atMs >= former.ttlMs) return 'expired';
    return head === former.head ? 'edit' : 'changed-request';
  }
}

/** Whether a mark would find an entry that ends with this part. */
function isLookedFor({ marks }: CachedRequest, part: number): boolean {
  if (marks === undefined) return true;
  const positionOf = (at: number): number => marks.positions[at] ?? 0;
  return marks.parts.some((mark) => mark >= part && positionOf(mark) - positionOf(part) < LOOKBACK);
}

/** Field names of messages and escapes cost no tokens. */
const FRAME =
  /"(?:type|role|content|text|id|name|input|tool_use_id|call_id|output|arguments)":|\\(?=.)/g;

/** Tokens of a part by the provider's count: characters divided by a constant, where a run of spaces counts as one token. */
export function tokensOf(part: string): number {
  return Math.ceil(part.replace(FRAME, '').replace(/ {2,}/g, '....').length / 4);
}
