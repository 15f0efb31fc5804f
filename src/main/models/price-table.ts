// Token prices of models, copied from their makers' price pages. Cache writes cost the input price times the maker's factors, and so do
// cache reads if a page lists no price.

/** Dollars per million tokens. */
export interface TokenPrice {
  /** Input that is neither read from nor written to a cache. */
  readonly input: number;
  readonly cacheRead: number;
  /** The input price if cache writes are free. */
  readonly cacheWrite: number;
}

/** How long a prompt cache keeps what a request wrote, and the price of writing for that long. */
export interface CacheLifetime {
  readonly ttlMs: number;
  /** Dollars per million tokens. */
  readonly cacheWrite: number;
}

/** The prices of one model. */
export interface ModelPrice extends TokenPrice {
  /** The name shown in reports: the family it is listed under. */
  readonly name: string;
  /** Dollars per million output tokens. */
  readonly output?: number | undefined;
  /** Prices of requests whose prompt has more than `promptTokens` tokens; they apply to the whole request. */
  readonly above?: (TokenPrice & { readonly promptTokens: number }) | undefined;
  /** Cache lifetimes that a request may ask for; the first is the default. Empty if the maker states none. */
  readonly lifetimes?: readonly CacheLifetime[] | undefined;
  /** Shorter prompts are not cached. */
  readonly leastCachedTokens?: number | undefined;
}

/** The day on which the price pages of Anthropic, OpenAI, Google and xAI were read. */
export const MODEL_PRICES_DATE = '2026-11-22';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The terms that several models of one maker share. */
interface MakerTerms {
  /** Pairs of a cache lifetime and its write price as a multiple of the input price; the first pair is the default. */
  readonly lifetimes: readonly (readonly [ttlMs: number, write: number])[];
  readonly leastCachedTokens?: number;
  /** Above this many prompt tokens, input and output cost this many times as much. */
  readonly step?: readonly [promptTokens: number, times: number] | undefined;
  /** The day on which promotional prices end, in UTC: from then on, the prices are twice those of the row. */
  readonly doublesOn?: string;
}

type Row = readonly [name: string, input: number, cacheRead: number, output: number, MakerTerms];

const anthropic = (leastCachedTokens: number, step?: MakerTerms['step']): MakerTerms => ({
  lifetimes: [
    [5 * MINUTE, 1.25],
    [HOUR, 2],
  ],
  leastCachedTokens,
  step,
});

const OPENAI: MakerTerms = {
  lifetimes: [
    [30 * MINUTE, 1.25],
    [12 * HOUR, 2.5],
  ],
  leastCachedTokens: 1_024,
  step: [272_000, 2],
};

/** Terms of OpenAI's earlier models: a single lifetime of one day, with free cache writes. */
const OPENAI_BEFORE: MakerTerms = {
  lifetimes: [[24 * HOUR, 1]],
  leastCachedTokens: 1_024,
  step: [272_000, 2],
};

const google = (leastCachedTokens: number, step?: MakerTerms['step']): MakerTerms => ({
  lifetimes: [],
  leastCachedTokens,
  step,
});

const GEMINI_STEP = [200_000, 2] as const;

/** Named by model id. Sources: the platform docs of Anthropic, OpenAI, Google and xAI, on `MODEL_PRICES_DATE`. */
const ROWS: readonly Row[] = [
  ['claude-fable-5-2', 8, 0.2, 40, anthropic(512)],
  ['claude-mythos-5-2', 8, 0.2, 40, anthropic(512)],
  ['claude-fable-5-1', 10, 0.25, 50, anthropic(512)],
  ['claude-mythos-5-1', 10, 0.25, 50, anthropic(512)],
  ['claude-fable-5', 10, 1, 50, anthropic(512)],
  ['claude-opus-5-5', 4, 0.2, 20, anthropic(512)],
  ['claude-opus-5', 5, 0.5, 25, anthropic(512)],
  ['claude-opus-4-8', 5, 0.5, 25, anthropic(1_024)],
  ['claude-opus-4-7', 5, 0.5, 25, anthropic(2_048)],
  ['claude-opus-4-6', 5, 0.5, 25, anthropic(4_096)],
  ['claude-opus-4-5', 5, 0.5, 25, anthropic(4_096)],
  ['claude-sonnet-5-5', 2, 0.1, 10, anthropic(512)],
  ['claude-sonnet-5', 2, 0.2, 10, anthropic(1_024)],
  ['claude-sonnet-4-6', 3, 0.3, 15, anthropic(1_024)],
  ['claude-sonnet-4-5', 3, 0.3, 15, anthropic(1_024)],
  ['claude-haiku-5-5', 0.1, 0.01, 0.5, anthropic(512, [100_000, 5])],
  ['claude-haiku-4-5', 1, 0.1, 5, anthropic(4_096)],
  ['gpt-6.2-astra', 8, 0.4, 40, OPENAI],
  ['gpt-6.2-sol', 2, 0.1, 10, OPENAI],
  ['gpt-6.1-sol', 2, 0.1, 10, OPENAI],
  ['gpt-6-sol', 2, 0.2, 10, OPENAI],
  ['gpt-6-astra', 10, 1, 50, OPENAI],
  ['gpt-6-luna', 0.1, 0.01, 0.5, OPENAI],
  ['gpt-5.6-sol', 4, 0.4, 20, OPENAI],
  ['gpt-5.6-terra', 2, 0.2, 12, OPENAI],
  ['gpt-5.6-luna', 0.2, 0.02, 1.2, OPENAI],
  ['gpt-5.5', 5, 0.5, 30, OPENAI_BEFORE],
  ['gemini-4-argon', 2, 0.1, 10, { ...google(4_096), doublesOn: '2026-12-01' }],
  ['gemini-3.8-flash', 0.75, 0.075, 3.75, { ...google(4_096), doublesOn: '2027-01-01' }],
  ['gemini-3.1-pro', 2, 0.2, 12, google(4_096, GEMINI_STEP)],
  ['gemini-2.5-pro', 1.25, 0.125, 10, google(2_048, GEMINI_STEP)],
  ['grok-4.6', 2, 0.5, 6, { lifetimes: [] }],
];

/** Returns the prices at a time, in milliseconds since the epoch, by the name of a row. */
export function priceTable(now: number): ReadonlyMap<string, ModelPrice> {
  return new Map(ROWS.map((row) => [row[0], priceOf(atTime(row, now))]));
}

function atTime(row: Row, now: number): Row {
  const [name, input, cacheRead, output, terms] = row;
  if (terms.doublesOn === undefined || now < Date.parse(terms.doublesOn)) return row;
  return [name, 2 * input, 2 * cacheRead, 2 * output, terms];
}

function priceOf([name, input, cacheRead, output, terms]: Row): ModelPrice {
  const { leastCachedTokens, step } = terms;
  const lifetimes = terms.lifetimes.map(([ttlMs, write]) => ({ ttlMs, cacheWrite: input * write }));
  const cacheWrite = lifetimes[0]?.cacheWrite ?? input;
  const price: ModelPrice = {
    name,
    input,
    cacheRead,
    cacheWrite,
    output,
    ...(leastCachedTokens !== undefined && { leastCachedTokens }),
    lifetimes,
  };
  if (step === undefined) return price;
  const [promptTokens, times] = step;
  const above = {
    promptTokens,
    input: input * times,
    cacheRead: cacheRead * times,
    cacheWrite: cacheWrite * times,
  };
  return { ...price, above };
}
