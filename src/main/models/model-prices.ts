// What models charge for tokens, as their makers' price pages say: data with its date, and the cost of one request
// by it. Where a page lists no cache prices, they are the input price by the maker's factors. Knows no other models.

import { USUAL_PRICES } from '../../shared/density/rules/rewrite-price.js';
import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import { SILENT_LOGGER } from '../host/logger.js';
import type { Logger } from '../host/logger.js';
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

/** The day on which the prices were read on the pages of Anthropic, OpenAI, Google and xAI. */
export const MODEL_PRICES_DATE = '2026-11-22';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What the models of one maker have alike. */
interface CacheTerms {
  /** By time to live, writing as a multiple of input; the first is the default. */
  readonly lifetimes: readonly (readonly [ttlMs: number, write: number])[];
  readonly leastCachedTokens?: number;
  /** Above so many tokens of prompt, input and output cost so many times as much. */
  readonly step?: readonly [promptTokens: number, times: number];
}

type Row = readonly [
  name: string,
  input: number,
  cacheRead: number,
  cacheWrite: number,
  output: number,
  CacheTerms,
];

const anthropic = (leastCachedTokens: number, step?: CacheTerms['step']): CacheTerms => ({
  lifetimes: [
    [5 * MINUTE, 1.25],
    [HOUR, 2],
  ],
  leastCachedTokens,
  ...(step !== undefined && { step }),
});

const OPENAI: CacheTerms = {
  lifetimes: [
    [30 * MINUTE, 1.25],
    [12 * HOUR, 2.5],
  ],
  leastCachedTokens: 1_024,
  step: [272_000, 2],
};

/** A day and nothing else, at no price. */
const OPENAI_BEFORE: CacheTerms = {
  lifetimes: [[24 * HOUR, 1]],
  leastCachedTokens: 1_024,
  step: [272_000, 2],
};

const google = (leastCachedTokens: number, step?: CacheTerms['step']): CacheTerms => ({
  lifetimes: [],
  leastCachedTokens,
  ...(step !== undefined && { step }),
});

const GEMINI_STEP = [200_000, 2] as const;

/** Names are those of the models' ids. Sources: the platform docs of Anthropic, OpenAI, Google and xAI, on `MODEL_PRICES_DATE`. */
const ROWS: readonly Row[] = [
  ['claude-fable-5-2', 8, 0.2, 10, 40, anthropic(512)],
  ['claude-mythos-5-2', 8, 0.2, 10, 40, anthropic(512)],
  ['claude-fable-5-1', 10, 0.25, 12.5, 50, anthropic(512)],
  ['claude-mythos-5-1', 10, 0.25, 12.5, 50, anthropic(512)],
  ['claude-fable-5', 10, 1, 12.5, 50, anthropic(512)],
  ['claude-opus-5-5', 4, 0.2, 5, 20, anthropic(512)],
  ['claude-opus-5', 5, 0.5, 6.25, 25, anthropic(512)],
  ['claude-opus-4-8', 5, 0.5, 6.25, 25, anthropic(1_024)],
  ['claude-opus-4-7', 5, 0.5, 6.25, 25, anthropic(2_048)],
  ['claude-opus-4-6', 5, 0.5, 6.25, 25, anthropic(4_096)],
  ['claude-opus-4-5', 5, 0.5, 6.25, 25, anthropic(4_096)],
  ['claude-sonnet-5-5', 2, 0.1, 2.5, 10, anthropic(512)],
  ['claude-sonnet-5', 2, 0.2, 2.5, 10, anthropic(1_024)],
  ['claude-sonnet-4-6', 3, 0.3, 3.75, 15, anthropic(1_024)],
  ['claude-sonnet-4-5', 3, 0.3, 3.75, 15, anthropic(1_024)],
  ['claude-haiku-5-5', 0.1, 0.01, 0.125, 0.5, anthropic(512, [100_000, 5])],
  ['claude-haiku-4-5', 1, 0.1, 1.25, 5, anthropic(4_096)],
  ['gpt-6.2-astra', 8, 0.4, 10, 40, OPENAI],
  ['gpt-6.2-sol', 2, 0.1, 2.5, 10, OPENAI],
  ['gpt-6.1-sol', 2, 0.1, 2.5, 10, OPENAI],
  ['gpt-6-sol', 2, 0.2, 2.5, 10, OPENAI],
  ['gpt-6-astra', 10, 1, 12.5, 50, OPENAI],
  ['gpt-6-luna', 0.1, 0.01, 0.125, 0.5, OPENAI],
  ['gpt-5.6-sol', 4, 0.4, 5, 20, OPENAI],
  ['gpt-5.6-terra', 2, 0.2, 2.5, 12, OPENAI],
  ['gpt-5.6-luna', 0.2, 0.02, 0.25, 1.2, OPENAI],
  ['gpt-5.5', 5, 0.5, 5, 30, OPENAI_BEFORE],
  ['gemini-4-argon', 2, 0.1, 2, 10, google(4_096)],
  ['gemini-3.8-flash', 0.75, 0.075, 0.75, 3.75, google(4_096)],
  ['gemini-3.1-pro', 2, 0.2, 2, 12, google(4_096, GEMINI_STEP)],
  ['gemini-2.5-pro', 1.25, 0.125, 1.25, 10, google(2_048, GEMINI_STEP)],
  ['grok-4.6', 2, 0.5, 2, 6, { lifetimes: [] }],
];

const PRICES: ReadonlyMap<string, ModelPrice> = new Map(
  ROWS.map(([name, input, cacheRead, cacheWrite, output, terms]) => {
    const { lifetimes, leastCachedTokens, step } = terms;
    const price: ModelPrice = {
      ...{ name, input, cacheRead, cacheWrite, output },
      ...(leastCachedTokens !== undefined && { leastCachedTokens }),
      lifetimes: lifetimes.map(([ttlMs, write]) => ({ ttlMs, cacheWrite: input * write })),
    };
    if (step === undefined) return [name, price];
    const [promptTokens, times] = step;
    const above = {
      promptTokens,
      input: input * times,
      cacheRead: cacheRead * times,
      cacheWrite: cacheWrite * times,
    };
    return [name, { ...price, above }];
  }),
);

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
  return PRICES.get(plainName(id));
}

function plainName(id: string): string {
  return id.slice(0, MAX_NAME).toLowerCase().replace(ROUTE, '').replace(RELEASE, '');
}

/** Half a year: makers change prices about as often. */
const OLD_AFTER_MS = 183 * 24 * HOUR;

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
