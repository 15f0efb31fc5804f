// What caching is like for the requests of one session: how long a provider keeps what was sent, and what that costs. The one
// place that decides it: by what the host says, by what the request asks for, by the model.

import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import { atLifetime, cachePrices } from './model-prices.js';
import type { ModelPrice } from './model-prices.js';

/** The shortest that providers keep anything, for models that nobody knows. */
const UNKNOWN_TTL_MS = 300_000;

/** The terms of the model and the request that a session is about. */
export class CacheTerms {
  readonly #givenMs: number | undefined;
  readonly #modelPrice: () => ModelPrice | undefined;
  /** What the present request asks for, and what the last one did that was sent. */
  #askedMs: number | undefined;
  #sentMs: number | undefined;

  /**
   * @param givenMs what the host says, for all requests @default nothing
   * @param price what the model charges that the session talks to @default nobody knows
   */
  constructor(givenMs?: number, price: () => ModelPrice | undefined = () => undefined) {
    this.#givenMs = givenMs;
    this.#modelPrice = price;
  }

  /** Takes for how long a request asks its provider to keep it, by the marks on it; `undefined` when it does not say. */
  requestOpens(askedMs: number | undefined): void {
    this.#askedMs = askedMs;
  }

  requestCloses(): void {
    this.#sentMs = this.#askedMs;
  }

  /** How long what was sent last is kept, in milliseconds. */
  get ttlMs(): number {
    const asked = this.#givenMs ?? this.#sentMs ?? this.#askedMs;
    return asked ?? this.#modelPrice()?.lifetimes?.[0]?.ttlMs ?? UNKNOWN_TTL_MS;
  }

  /** What the present request costs, kept for as long as it asks; `undefined` when nobody knows. */
  get price(): ModelPrice | undefined {
    const price = this.#modelPrice();
    return price && atLifetime(price, this.#givenMs ?? this.#askedMs);
  }

  /** What reading and writing cost at that. */
  get prices(): CachePrices {
    return cachePrices(this.price);
  }
}
