// What models charge for tokens, as their makers' price pages say: data with its date, and the cost of one request
// by it. Where a page lists no cache prices, they are the input price by the maker's factors. Knows no other models.

import { USUAL_PRICES } from '../../shared/density/rules/rewrite-price.js';
import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import { SILENT_LOGGER } from '../host/logger.js';
import type { Logger } from '../host/logger.js';
import { MODEL_PRICES_DATE, PRICE_TABLE } from './price-table.js';
import { assertNumber, assertString, assertTokens, readOptions } from '../../shared/misuse.js';

/** Dollars for a million tokens. */
export interface TokenPrice {
  /** Input that no cache holds, and that is not written to one. */
  readonly input: number;
  readonly cacheRead: number;
  /** The price of input where writing to a cache costs nothing besides. */
  readonly cacheWrite: number;
}

/** How long a cache keeps what a request has written, and what writing for so long costs. */
export interface CacheLifetime {
  readonly ttlMs: number;
  /** Dollars for a million tokens. */
  readonly cacheWrite: number;
}

/** What one model charges. */
export interface ModelPrice extends TokenPrice {
  /** What the price is called in reports: the family that it is listed under. */
  readonly name: string;
  /** Dollars for a million tokens of answers. */
  readonly output?: number | undefined;
  /** What a request costs whose prompt is longer than so many tokens, all of it. */
  readonly above?: (TokenPrice & { readonly promptTokens: number }) | undefined;
  /** The lifetimes that a request may ask for; the first is what it has without asking. None where the maker states none. */
  readonly lifetimes?: readonly CacheLifetime[] | undefined;
  /** Shorter prompts are not cached. */
  readonly leastCachedTokens?: number | undefined;
}

/** The way to a model: `openai/`, `us.anthropic.`. */
const ROUTE = /^(?:.*\/)?(?:[a-z]+\.)*/;
const MAX_NAME = 500;
/** What names a release of the same model: a date, a version of the platform, `latest`. */
const RELEASE = /(?:-\d{6,8}|-\d{4}-\d\d-\d\d|-latest|-preview|-v\d+|[@:].*)+$/;

/**
 * Returns what a model charges by its id, routes and dates of releases left aside; `undefined` when that is not known.
 *
 * @throws TypeError for an id that is no text.
 */
export function modelPrice(id: string): ModelPrice | undefined {
  assertString('id', id);
  return PRICE_TABLE.get(plainName(id));
}

function plainName(id: string): string {
  return id.slice(0, MAX_NAME).toLowerCase().replace(ROUTE, '').replace(RELEASE, '');
}

/** Half a year: makers change prices about as often. */
const OLD_AFTER_MS = 183 * 24 * 3_600_000;

/** What a host says of prices: by the id of a model, before the table; `default` is for those that neither names. */
export type OwnPrices = Readonly<Record<string, Omit<ModelPrice, 'name'>>>;

/** The prices of one compactor's models: those of the host, else those of the table. */
export class ModelPrices {
  readonly #own: ReadonlyMap<string, ModelPrice>;
  readonly #logger: Logger;
  #isAgeTold = false;

  /** @param own checked by whoever took them in */
  constructor(own: OwnPrices = {}, logger: Logger = SILENT_LOGGER) {
    this.#logger = logger;
    this.#own = new Map(
      Object.entries(own).map(([id, price]) => [plainName(id), { ...price, name: id }]),
    );
  }

  /** What a model charges; `undefined` when nobody knows. */
  of(modelName: string | undefined): ModelPrice | undefined {
    if (modelName === undefined) return this.#own.get('default');
    const own = this.#own.get(plainName(modelName));
    const listed = own === undefined ? modelPrice(modelName) : undefined;
    if (listed !== undefined) this.#tellAge();
    return own ?? listed ?? this.#own.get('default');
  }

  /** Who goes by old prices has to know it, once. */
  #tellAge(): void {
    if (this.#isAgeTold) return;
    this.#isAgeTold = true;
    if (Date.now() - Date.parse(MODEL_PRICES_DATE) < OLD_AFTER_MS) return;
    this.#logger.warn('the table of prices is old; give prices to createCompactor', {
      date: MODEL_PRICES_DATE,
    });
  }
}

/** Returns the price of requests that a cache is to keep for so long; as it is where that is no lifetime of the model. */
export function atLifetime(price: ModelPrice, ttlMs: number | undefined): ModelPrice {
  const lifetime = price.lifetimes?.find((each) => each.ttlMs === ttlMs);
  if (lifetime === undefined || lifetime.cacheWrite === price.cacheWrite) return price;
  const { cacheWrite } = lifetime;
  const { above } = price;
  const times = price.cacheWrite === 0 ? 1 : cacheWrite / price.cacheWrite;
  return {
    ...price,
    cacheWrite,
    ...(above && { above: { ...above, cacheWrite: above.cacheWrite * times } }),
  };
}

/** Returns what tokens cost in a prompt of that length: all of them more where it is above the step. */
export function priceAt({ above, ...price }: ModelPrice, promptTokens: number): TokenPrice {
  return above !== undefined && promptTokens > above.promptTokens ? above : price;
}

/** Returns what caching costs by a price; as at most models where there is none, or where all is free. */
export function cachePrices(price: TokenPrice | undefined): CachePrices {
  if (price === undefined || !(price.cacheWrite > 0)) return USUAL_PRICES;
  return { read: price.cacheRead, write: price.cacheWrite };
}

/**
 * Returns what the input of one request costs, in dollars. What the cache does not answer is written to it, but for a prompt that is
 * too short to be cached.
 *
 * @throws TypeError or RangeError for what is no price or no number of tokens.
 */
export function inputCost(given: ModelPrice, sentTokens: number, cacheReadTokens: number): number {
  const price = readOptions('the price of a model', given);
  assertNumber('cacheRead', price.cacheRead);
  assertNumber('cacheWrite', price.cacheWrite);
  assertTokens('sentTokens', sentTokens);
  assertTokens('cacheReadTokens', cacheReadTokens);
  const { input, cacheRead, cacheWrite } = priceAt(price, sentTokens);
  const fresh = sentTokens < (price.leastCachedTokens ?? 0) ? input : cacheWrite;
  return (cacheReadTokens * cacheRead + (sentTokens - cacheReadTokens) * fresh) / 1e6;
}

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
