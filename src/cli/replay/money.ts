// Tokens, cache reads and dollars of the recorded requests, priced by the library's price table, and the sentences that report
// them. Also parses the option `--price`.

import { MODEL_PRICES_DATE, modelPrice } from '../../index.js';
import type { CostReport, IContent, ModelPrice, RequestTokens } from '../../index.js';
import { largestFirst, sumOf, sumsOf } from '../measure/aggregate.js';
import { itemsOf } from '../measure/attribution.js';
import {
  formatDollars,
  formatNumberOf,
  formatSaving,
  formatShare,
} from '../terminal/text-layout.js';
import { UsageError } from '../terminal/options.js';

/** Tokens of a session without and with ctxfold. */
export interface TokenPair {
  /** Tokens of all entries as they were added, without any edit. */
  readonly without: number;
  /** Tokens that remain after the edits of ctxfold. */
  readonly with: number;
}

/** Input tokens and their cost. */
export interface InputSum {
  readonly sentTokens: number;
  readonly cacheReadTokens: number;
  readonly dollars: number;
}

/** Sums over model requests, as sent with ctxfold and as they would have been sent without. */
export interface InputSums {
  readonly requests: number;
  readonly with: InputSum;
  readonly without: InputSum;
  /** Number of requests whose prefix an edit had changed. */
  readonly rewrites: number;
  /** Dollars saved by rule, with the rest under `other`. They sum up to `without.dollars - with.dollars`. */
  readonly savedBy: Readonly<Record<string, number>>;
}

/** One model request. */
export interface RecordedRequest extends InputSums {
  /** When the model answered, in milliseconds since the epoch; `null` if not recorded. */
  readonly atMs: number | null;
  /** Whether the uncompacted request would have read nothing from the prompt cache. */
  readonly isCold: boolean;
}

/** The price of most requests of a session, and its source. */
export interface UsedPrice {
  readonly price: ModelPrice;
  /** `recorded`: by the model that the recording names. `assumed`: that model is missing or has no known price. `given`: by `--price`. */
  readonly origin: 'recorded' | 'assumed' | 'given';
}

/** Input tokens and cost of a session, with the price that most of its requests have. */
export interface Money extends InputSums {
  readonly price: UsedPrice;
}

interface PreflightCosts {
  /** Index of the transcript entry with the answer. */
  readonly entry: number;
  readonly tokens: TokenPair;
  /** Running sums over all requests so far. */
  readonly costs: CostReport;
}

const NO_TOKENS: RequestTokens = { sentTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** The running sums before the first request. */
const NO_COSTS: CostReport = { ...NO_TOKENS, requests: 0, uncompacted: NO_TOKENS, rewrites: 0 };

/** The same in dollars, and those of models without a known price. */
const NO_DOLLARS: NonNullable<CostReport['dollars']> = { with: 0, without: 0, savedBy: {} };

/** Returns one request per model call, as differences of the session's running sums. The last preflight precedes no request. */
export function requestsOf(
  preflights: readonly PreflightCosts[],
  entries: readonly IContent[],
): readonly RecordedRequest[] {
  return preflights.slice(0, -1).map(({ entry, tokens, costs }, at): RecordedRequest => {
    const former = preflights[at - 1]?.costs ?? NO_COSTS;
    const { dollars: now = NO_DOLLARS } = costs;
    const { dollars: then = NO_DOLLARS } = former;
    const savedBefore: InputSums['savedBy'] = then.savedBy;
    const uncompactedReads = costs.uncompacted.cacheReadTokens - former.uncompacted.cacheReadTokens;
    return {
      atMs: entries[entry]?.metadata?.timestamp ?? null,
      isCold: uncompactedReads === 0,
      requests: 1,
      rewrites: costs.rewrites - former.rewrites,
      with: {
        sentTokens: tokens.with,
        cacheReadTokens: costs.cacheReadTokens - former.cacheReadTokens,
        dollars: now.with - then.with,
      },
      without: {
        sentTokens: tokens.without,
        cacheReadTokens: Math.min(tokens.without, uncompactedReads),
        dollars: now.without - then.without,
      },
      savedBy: Object.fromEntries(
        Object.entries(now.savedBy).map(([rule, saved]) => [
          rule,
          saved - (savedBefore[rule] ?? 0),
        ]),
      ),
    };
  });
}

/** Returns the totals of several requests or sums, such as those of all sessions of a folder. */
export function sumInput(sums: readonly InputSums[]): InputSums {
  const side = (key: 'with' | 'without'): InputSum =>
    sumsOf(
      sums.map((sum) => sum[key]),
      ['sentTokens', 'cacheReadTokens', 'dollars'],
    );
  const rules = new Set(sums.flatMap(({ savedBy }) => Object.keys(savedBy)));
  return {
    ...sumsOf(sums, ['requests', 'rewrites']),
    with: side('with'),
    without: side('without'),
    savedBy: Object.fromEntries(
      Array.from(rules, (rule) => [rule, sumOf(sums, ({ savedBy }) => savedBy[rule] ?? 0)]),
    ),
  };
}

/** In dollars. Smaller amounts would be shown as zero; most are floating-point rounding errors. */
const NOTHING_SAVED = 5e-7;

/** Returns dollars saved by what rules remove, largest first; negative for what cost more than it saved. Omits what saved nothing. */
export function savedByItem({ savedBy }: InputSums): readonly (readonly [string, number])[] {
  const saved = Object.entries(savedBy).filter(([, dollars]) => Math.abs(dollars) > NOTHING_SAVED);
  return largestFirst(saved, ([, dollars]) => dollars).map(([rule, dollars]) => [
    itemsOf(rule),
    dollars,
  ]);
}

/** Returns sentences about the cost of the input, the savings and the prices; none if there were no requests. */
export function moneySentences(input: InputSums, prices: readonly UsedPrice[]): readonly string[] {
  const { requests, with: left, without } = input;
  if (requests === 0) return [];
  const savings = savedByItem(input).map(([item, dollars]) => `${item} ${formatDollars(dollars)}`);
  return [
    `The input of ${formatNumberOf(requests, 'model call')} costs ${formatDollars(left.dollars)} instead of ` +
      `${formatDollars(without.dollars)}: ${formatSaving(without.dollars, left.dollars)}. ` +
      `Read from the cache: ${formatShare(left.cacheReadTokens, left.sentTokens)} with ctxfold, ` +
      `${formatShare(without.cacheReadTokens, without.sentTokens)} without.`,
    ...(savings.length === 0 ? [] : [`Saved by ${savings.join(', ')}.`]),
    pricesSentence(prices),
  ];
}

/** Returns the sentences about known prices and assumed prices, joined by a space. */
export function pricesSentence(prices: readonly UsedPrice[]): string {
  const names = (origin: UsedPrice['origin']): string =>
    Array.from(new Set(prices.filter((each) => each.origin === origin).map(nameOf))).join('; ');
  const known = [names('given'), names('recorded')].filter((name) => name !== '').join('; ');
  const assumed = names('assumed');
  return [
    ...(known === '' ? [] : [`Prices per million tokens${listedOn(prices)}: ${known}.`]),
    ...(assumed === ''
      ? []
      : [
          `${known === '' ? 'The recording names' : 'Some recordings name'} no model with a known price. ` +
            `Assumed per million tokens${listedOn(prices)}: ${assumed}; --price sets another.`,
        ]),
  ].join(' ');
}

/** Returns the date of the price table in parentheses; empty if all prices were given as dollars, which have no model name. */
function listedOn(prices: readonly UsedPrice[]): string {
  return prices.some(({ price }) => price.name !== '') ? ` (${MODEL_PRICES_DATE})` : '';
}

function nameOf({ price: { name, input, cacheRead, cacheWrite } }: UsedPrice): string {
  return `${name === '' ? '' : `${name} `}$${input} input, $${cacheRead} cache read, $${cacheWrite} cache write`;
}

/** Matches dollars per million tokens: `input`, `input/cacheRead` or `input/cacheRead/cacheWrite`, such as `3/0.3/3.75`. */
const DOLLARS = /^(\d+(?:\.\d+)?)(?:\/(\d+(?:\.\d+)?))?(?:\/(\d+(?:\.\d+)?))?$/;

/** Parses `--price`: a priced model's id, or dollars. Omitted cache prices equal the input price. @throws UsageError for others. */
export function readPrice(text: string): ModelPrice {
  const [, input, cacheRead = input, cacheWrite = input] = DOLLARS.exec(text) ?? [];
  if (input !== undefined) {
    return {
      name: '',
      input: Number(input),
      cacheRead: Number(cacheRead),
      cacheWrite: Number(cacheWrite),
    };
  }
  const price = modelPrice(text);
  if (price !== undefined) return price;
  throw new UsageError(
    '--price: expected the id of a model with a known price, such as claude-sonnet-5-5, or ' +
      'dollars per million tokens: input, or input/read/write, such as 3/0.3/3.75.',
  );
}
