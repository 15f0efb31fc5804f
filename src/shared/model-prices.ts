// What models charge for tokens, as their makers' price pages say: data with its date, and the cost of one request
// by it. Where a page lists no cache prices, they are the input price by the maker's factors. Knows no other models.

import { assertNumber, assertString, assertTokens, readOptions } from './misuse.js';

/** Dollars for a million tokens. */
export interface TokenPrice {
  /** Input that no cache holds, and that is not written to one. */
  readonly input: number;
  readonly cacheRead: number;
  /** The price of input where writing to a cache costs nothing besides. */
  readonly cacheWrite: number;
}

/** What one model charges. */
export interface ModelPrice extends TokenPrice {
  /** What the price is called in reports: the family that it is listed under. */
  readonly name: string;
  /** What a request costs whose prompt is longer than so many tokens, all of it. */
  readonly above?: TokenPrice & { readonly promptTokens: number };
}

/** The day on which the prices were read on the pages of Anthropic, OpenAI, Google and xAI. */
export const MODEL_PRICES_DATE = '2026-11-22';

type Row = readonly [name: string, input: number, cacheRead: number, cacheWrite: number, Step?];
/** A prompt above so many tokens costs so many times as much. */
type Step = readonly [promptTokens: number, times: number];

const OPENAI_STEP: Step = [272_000, 2];
const GEMINI_STEP: Step = [200_000, 2];

/** Names are those of the models' ids. Sources: the platform docs of Anthropic, OpenAI, Google and xAI, on `MODEL_PRICES_DATE`. */
const ROWS: readonly Row[] = [
  ['claude-fable-5-2', 8, 0.2, 10],
  ['claude-fable-5-1', 10, 0.25, 12.5],
  ['claude-mythos-5-1', 10, 0.25, 12.5],
  ['claude-fable-5', 10, 1, 12.5],
  ['claude-opus-5-5', 4, 0.2, 5],
  ['claude-opus-5', 5, 0.5, 6.25],
  ['claude-opus-4-8', 5, 0.5, 6.25],
  ['claude-opus-4-7', 5, 0.5, 6.25],
  ['claude-opus-4-6', 5, 0.5, 6.25],
  ['claude-opus-4-5', 5, 0.5, 6.25],
  ['claude-sonnet-5-5', 2, 0.1, 2.5],
  ['claude-sonnet-5', 2, 0.2, 2.5],
  ['claude-sonnet-4-6', 3, 0.3, 3.75],
  ['claude-sonnet-4-5', 3, 0.3, 3.75],
  ['claude-haiku-5-5', 0.1, 0.01, 0.125, [100_000, 5]],
  ['claude-haiku-4-5', 1, 0.1, 1.25],
  ['gpt-6.2-astra', 8, 0.4, 10, OPENAI_STEP],
  ['gpt-6.2-sol', 2, 0.1, 2.5, OPENAI_STEP],
  ['gpt-6.1-sol', 2, 0.1, 2.5, OPENAI_STEP],
  ['gpt-6-sol', 2, 0.2, 2.5, OPENAI_STEP],
  ['gpt-6-astra', 10, 1, 12.5, OPENAI_STEP],
  ['gpt-6-luna', 0.1, 0.01, 0.125, OPENAI_STEP],
  ['gpt-5.6-sol', 4, 0.4, 5, OPENAI_STEP],
  ['gpt-5.6-terra', 2, 0.2, 2.5, OPENAI_STEP],
  ['gpt-5.6-luna', 0.2, 0.02, 0.25, OPENAI_STEP],
  ['gpt-5.5', 5, 0.5, 5, OPENAI_STEP],
  ['gemini-4-argon', 2, 0.1, 2],
  ['gemini-3.8-flash', 0.75, 0.075, 0.75],
  ['gemini-3.1-pro', 2, 0.2, 2, GEMINI_STEP],
  ['gemini-2.5-pro', 1.25, 0.125, 1.25, GEMINI_STEP],
  ['grok-4.6', 2, 0.5, 2],
];

const PRICES: ReadonlyMap<string, ModelPrice> = new Map(
  ROWS.map(([name, input, cacheRead, cacheWrite, step]) => {
    const price = { input, cacheRead, cacheWrite };
    if (step === undefined) return [name, { name, ...price }];
    const [promptTokens, times] = step;
    const above = {
      promptTokens,
      input: input * times,
      cacheRead: cacheRead * times,
      cacheWrite: cacheWrite * times,
    };
    return [name, { name, ...price, above }];
  }),
);

/** The way to a model: `openai/`, `us.anthropic.`. */
const ROUTE = /^(?:.*\/)?(?:[a-z]+\.)*/;
/** What names a release of the same model: a date, a version of the platform, `latest`. */
const RELEASE = /(?:-\d{6,8}|-\d{4}-\d\d-\d\d|-latest|-preview|-v\d+|[@:].*)+$/;

/**
 * Returns what a model charges by its id, routes and dates of releases left aside; `undefined` when that is not known.
 *
 * @throws TypeError for an id that is no text.
 */
export function modelPrice(id: string): ModelPrice | undefined {
  assertString('id', id);
  return PRICES.get(id.toLowerCase().replace(ROUTE, '').replace(RELEASE, ''));
}

/**
 * Returns what the input of one request costs, in dollars. What the cache does not answer is written to it.
 *
 * @throws TypeError or RangeError for what is no price or no number of tokens.
 */
export function inputCost(given: ModelPrice, sentTokens: number, cacheReadTokens: number): number {
  const { above, ...price } = readOptions('the price of a model', given);
  assertNumber('cacheRead', price.cacheRead);
  assertNumber('cacheWrite', price.cacheWrite);
  assertTokens('sentTokens', sentTokens);
  assertTokens('cacheReadTokens', cacheReadTokens);
  const { cacheRead, cacheWrite } =
    above !== undefined && sentTokens > above.promptTokens ? above : price;
  return (cacheReadTokens * cacheRead + (sentTokens - cacheReadTokens) * cacheWrite) / 1e6;
}
