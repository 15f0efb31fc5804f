// What requests to a model cost: price lookup by model id, price steps, cache prices. The data is in price-table.ts.

import { USUAL_PRICES } from '../../shared/density/rules/rewrite-price.js';
import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import { assertNumber, assertString, assertTokens, readOptions } from '../../shared/misuse.js';
import { SILENT_LOGGER } from '../host/logger.js';
import type { Logger } from '../host/logger.js';
import { plainModelName } from './model-name.js';
import { MODEL_PRICES_DATE, priceTable } from './price-table.js';
import type { ModelPrice, TokenPrice } from './price-table.js';

/** Matches suffixes of the same model's releases: a date, a number, a platform version, `latest`, or a variant after `:` except `free`. */
const RELEASE =
  /(?:-\d{6,8}|-\d{4}-\d\d-\d\d|-\d\d-(?:\d\d|\d{4})|-00\d|-latest|-preview|-exp|-v\d+|\[1m\]|[@:](?!free$)[^]*)+$/;

const TODAY = priceTable(Date.now());

/**
 * Returns a model's prices by its id, ignoring routes and release dates; `undefined` if unknown.
 *
 * @throws TypeError if the id is not a string.
 */
export function modelPrice(id: string): ModelPrice | undefined {
  assertString('id', id);
  return TODAY.get(plainName(id));
}

function plainName(id: string): string {
  return plainModelName(id).replace(RELEASE, '');
}

/** Age at which the table counts as old: half a year, about how often providers change prices. */
const OLD_AFTER_MS = 183 * 24 * 3_600_000;

/**
 * Prices given by the host, by model id. They override the table. `*` applies to all models that the host does not list, `default`
 * to models that neither the host nor the table lists.
 */
export type OwnPrices = Readonly<
  Record<string, Omit<ModelPrice, 'name'> & { readonly name?: string | undefined }>
>;

/** The prices of one compactor's models: the host's, else the table's. */
export class ModelPrices {
  readonly #own: ReadonlyMap<string, ModelPrice>;
  readonly #logger: Logger;
  #hasWarnedOfAge = false;

  /** @param own validated by the caller */
  constructor(own: OwnPrices = {}, logger: Logger = SILENT_LOGGER) {
    this.#logger = logger;
    const prices = Object.entries(own).map(
      ([id, price]) => [id, { ...price, name: price.name ?? id }] as const,
    );
    // Ids as given come last, so that they win: local models may differ only after a colon, which plain names drop.
    this.#own = new Map([
      ...prices.map(([id, price]) => [plainName(id), price] as const),
      ...prices.map(([id, price]) => [id.toLowerCase(), price] as const),
    ]);
  }

  /** Returns a model's prices, or `undefined` if unknown. */
  of(modelName: string | undefined): ModelPrice | undefined {
    if (modelName === undefined) return this.#own.get('*') ?? this.#own.get('default');
    const own =
      this.#own.get(modelName.toLowerCase()) ??
      this.#own.get(plainName(modelName)) ??
      this.#own.get('*');
    const listed = own === undefined ? modelPrice(modelName) : undefined;
    if (listed !== undefined) this.#warnOfAge();
    return own ?? listed ?? this.#own.get('default');
  }

  /** Warns once if the table is older than `OLD_AFTER_MS`. */
  #warnOfAge(): void {
    if (this.#hasWarnedOfAge) return;
    this.#hasWarnedOfAge = true;
    if (Date.now() - Date.parse(MODEL_PRICES_DATE) < OLD_AFTER_MS) return;
    this.#logger.warn('the table of prices is old; give prices to createCompactor', {
      date: MODEL_PRICES_DATE,
    });
  }
}

/** Returns a model's price for requests with this cache lifetime (0: no cache), or `price` itself if the model does not offer it. */
export function atLifetime(price: ModelPrice, ttlMs: number | undefined): ModelPrice {
  if (ttlMs === 0) {
    const above = price.above && { ...price.above, cacheWrite: price.above.input };
    return { ...price, cacheWrite: price.input, ...(above && { above }) };
  }
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

/** Returns the token prices for a prompt of this length. Prices above the step apply to all tokens of the prompt. */
export function priceAt({ above, ...price }: ModelPrice, promptTokens: number): TokenPrice {
  return above !== undefined && promptTokens > above.promptTokens ? above : price;
}

/** Returns the prices of cache reads and writes; typical ones if the price is unknown or cache writes cost nothing. */
export function cachePrices(price: TokenPrice | undefined): CachePrices {
  if (price === undefined || !(price.cacheWrite > 0)) return USUAL_PRICES;
  return { read: price.cacheRead, write: price.cacheWrite };
}

/**
 * Returns the input cost of a request, in dollars. Tokens that are not read from the cache are written to it, unless the prompt is
 * too short to be cached.
 *
 * @throws TypeError or RangeError for an invalid price or token number.
 */
export function inputCost(given: ModelPrice, sentTokens: number, cacheReadTokens: number): number {
  const price = readOptions('the price of a model', given);
  assertNumber('cacheRead', price.cacheRead);
  assertNumber('cacheWrite', price.cacheWrite);
  assertTokens('sentTokens', sentTokens);
  assertTokens('cacheReadTokens', cacheReadTokens);
  if (cacheReadTokens > sentTokens)
    throw new RangeError(
      `Expected cacheReadTokens of at most the ${sentTokens} that are sent, got ${cacheReadTokens}.`,
    );
  const { input, cacheRead, cacheWrite } = priceAt(price, sentTokens);
  const fresh = sentTokens < (price.leastCachedTokens ?? 0) ? input : cacheWrite;
  return (cacheReadTokens * cacheRead + (sentTokens - cacheReadTokens) * fresh) / 1e6;
}
