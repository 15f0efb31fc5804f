// Providers with a prompt cache, by the documents of Anthropic and OpenAI: prefixes, a time to live that a read renews, a least
// length, and usage as they report it. They bill by the table of prices, and know why a request missed; they answer nothing themselves.

import { createHash } from 'node:crypto';
import type { ModelPrice } from '../../src/main/models/price-table.js';
import { atLifetime } from '../../src/main/models/model-prices.js';

/** What a request holds, in its order, and for how long it is to be kept. */
export interface CachedRequest {
  /** System text and tools come first. */
  readonly head: string;
  readonly parts: readonly string[];
  readonly ttlMs: number;
  /**
   * Places of Anthropic's marks, if the provider caches only there: the parts up to which entries are written, and the position of each
   * part. An entry is found at most 20 positions in front of a mark. @default all prefixes are cached and found
   */
  readonly marks?: { readonly parts: readonly number[]; readonly positions: readonly number[] };
}

/** Positions that a mark looks back, its own among them. */
const LOOKBACK = 20;

/** What a request came to, in the provider's tokens. */
export interface Billed {
  readonly inputTokens: number;
  readonly readTokens: number;
  readonly dollars: number;
  /** Why less than half of what the request before had left was read; `undefined` where more was. */
  readonly missed?: 'expired' | 'edit' | 'changed-request' | undefined;
}

/** The cache of one model. */
export class CachingProvider {
  readonly billed: Billed[] = [];
  readonly #price: ModelPrice;
  readonly #now: () => number;
  /** By the hash of a prefix, when it is gone. */
  readonly #cached = new Map<string, { expiresMs: number; readonly ttlMs: number }>();
  #former: (CachedRequest & { readonly atMs: number; readonly tokens: number }) | undefined;

  constructor(price: ModelPrice, now: () => number) {
    this.#price = price;
    this.#now = now;
  }

  /** What all requests have cost, in dollars. */
  get dollars(): number {
    return this.billed.reduce((sum, { dollars }) => sum + dollars, 0);
  }

  /** Bills a request and keeps it. */
  take(request: CachedRequest): Billed {
    const atMs = this.#now();
    const hash = createHash('sha256');
    let [tokens, readTokens] = [0, 0];
    const { leastCachedTokens = 0 } = this.#price;
    const prefixes: string[] = [];
    // The head is at place -1.
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

/** Whether a mark looks for an entry that ends with a part. */
function isLookedFor({ marks }: CachedRequest, part: number): boolean {
  if (marks === undefined) return true;
  const positionOf = (at: number): number => marks.positions[at] ?? 0;
  return marks.parts.some((mark) => mark >= part && positionOf(mark) - positionOf(part) < LOOKBACK);
}

/** The names of what a message consists of are no tokens, nor are escapes. */
const FRAME =
  /"(?:type|role|content|text|id|name|input|tool_use_id|call_id|output|arguments)":|\\(?=.)/g;

/** Tokens of a part, as the provider counts: so many characters, of which spaces in a row are one token. */
export function tokensOf(part: string): number {
  return Math.ceil(part.replace(FRAME, '').replace(/ {2,}/g, '....').length / 4);
}
