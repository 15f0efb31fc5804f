// Tokens, cache reads and dollars of the requests of sessions, by the library's own prices, and their wording. Also parses
// the option `--price`.

import { MODEL_PRICES_DATE, modelPrice } from '../../index.js';
import type { CostReport, IContent, ModelPrice, RequestTokens } from '../../index.js';
import { sumOf, sumsOf } from '../measure/aggregate.js';
import { formatCount, formatNumberOf, formatShare } from '../terminal/text-layout.js';
import type { Fail } from '../terminal/options.js';

/** Tokens of a session without and with ctxfold. */
export interface TokenPair {
  /** Tokens of everything that was ever said. */
  readonly without: number;
  /** Tokens of what ctxfold keeps. */
  readonly with: number;
}

/** Input tokens and their cost. */
export interface InputSum {
  readonly sentTokens: number;
  readonly cacheReadTokens: number;
  readonly dollars: number;
}

/** One request. */
export interface RecordedRequest {
  /** When the model answered, in milliseconds since the epoch; `null` if not recorded. */
  readonly atMs: number | null;
  /** Whether an edit changed the prefix that the previous request had sent. */
  readonly isRewrite: boolean;
  /** Whether no part of the request was in the prompt cache. */
  readonly isCold: boolean;
  readonly with: InputSum;
  readonly without: InputSum;
  /** Dollars that each rule saved, and `other`. */
  readonly savedBy: Readonly<Record<string, number>>;
}

/** Sums over requests, with ctxfold and without. */
export interface InputSums {
  readonly requests: number;
  readonly with: InputSum;
  readonly without: InputSum;
  /** Number of requests with a changed prefix. */
  readonly rewrites: number;
  /** Dollars that each rule saved, and `other`. They sum up to the difference between the costs without and with ctxfold. */
  readonly savedBy: Readonly<Record<string, number>>;
}

/** The price of most requests of a session, and its origin. */
export interface UsedPrice {
  readonly price: ModelPrice;
  /** `assumed`: the recording names no model whose price is known. */
  readonly origin: 'recorded' | 'assumed' | 'given';
}

/** The input of a session. */
export interface Money extends InputSums {
  readonly price: UsedPrice;
}

interface WindowCosts {
  /** Index of the transcript entry with the answer. */
  readonly entry: number;
  readonly tokens: TokenPair;
  /** Running sums over all requests so far. */
  readonly costs: CostReport;
}

/** Returns the requests of the model calls, as differences of the session's prefix sums. The last window has no request. */
export function requestsOf(
  windows: readonly WindowCosts[],
  entries: readonly IContent[],
): readonly RecordedRequest[] {
  return windows.slice(0, -1).map(({ entry, tokens, costs }, at): RecordedRequest => {
    const former = windows[at - 1]?.costs;
    const read = (now: RequestTokens, then: RequestTokens | undefined): number =>
      now.cacheReadTokens - (then?.cacheReadTokens ?? 0);
    const cacheReadTokens = read(costs.uncompacted, former?.uncompacted);
    const [now, then] = [costs.dollars, former?.dollars];
    const savedBy = Object.entries(now?.savedBy ?? {});
    const before: Readonly<Record<string, number>> = then?.savedBy ?? {};
    return {
      atMs: entries[entry]?.metadata?.timestamp ?? null,
      isCold: cacheReadTokens === 0,
      isRewrite: costs.rewrites > (former?.rewrites ?? 0),
      with: {
        sentTokens: tokens.with,
        cacheReadTokens: read(costs, former),
        dollars: (now?.with ?? 0) - (then?.with ?? 0),
      },
      without: {
        sentTokens: tokens.without,
        cacheReadTokens: Math.min(tokens.without, cacheReadTokens),
        dollars: (now?.without ?? 0) - (then?.without ?? 0),
      },
      savedBy: Object.fromEntries(
        savedBy.map(([rule, dollars]) => [rule, dollars - (before[rule] ?? 0)]),
      ),
    };
  });
}

/** Sums up requests. */
export function sumInput(requests: readonly RecordedRequest[]): InputSums {
  return addInput(
    requests.map((request) => ({ ...request, requests: 1, rewrites: request.isRewrite ? 1 : 0 })),
  );
}

/** Adds sums. */
export function addInput(sums: readonly InputSums[]): InputSums {
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

/** Smaller amounts are rounding errors. */
const NOTHING_SAVED = 1e-9;

/** Returns the dollars that rules saved, most first, without those that saved and cost nothing. */
export function savedByRule({ savedBy }: InputSums): readonly (readonly [string, number])[] {
  return Object.entries(savedBy)
    .filter(([, dollars]) => Math.abs(dollars) > NOTHING_SAVED)
    .sort(([, a], [, b]) => b - a);
}

/** Returns sentences about the cost of the input, the savings by rule and the prices; none if there were no requests. */
export function moneySentences(input: InputSums, prices: readonly UsedPrice[]): readonly string[] {
  const { requests, with: left, without } = input;
  if (requests === 0) return [];
  const rules = savedByRule(input).map(([rule, dollars]) => `${rule} ${formatDollars(dollars)}`);
  return [
    `The input of ${formatNumberOf(requests, 'model call')} costs ${formatDollars(left.dollars)} instead of ` +
      `${formatDollars(without.dollars)}: ${formatSaving(without.dollars, left.dollars)}. ` +
      `Read from the cache: ${formatShare(left.cacheReadTokens, left.sentTokens)} with ctxfold, ` +
      `${formatShare(without.cacheReadTokens, without.sentTokens)} without.`,
    ...(rules.length === 0 ? [] : [`Saved by ${rules.join(', ')}.`]),
    pricesSentence(prices),
  ];
}

/** Returns a sentence about the prices. */
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

/** Returns the date of the price table, if any price is from the table rather than from the option. */
function listedOn(prices: readonly UsedPrice[]): string {
  return prices.some(({ price }) => price.name !== '') ? ` (${MODEL_PRICES_DATE})` : '';
}

function nameOf({ price: { name, input, cacheRead, cacheWrite } }: UsedPrice): string {
  return `${name === '' ? '' : `${name} `}$${input} input, $${cacheRead} cache read, $${cacheWrite} cache write`;
}

/** `$12.30`, `$0.0042`, `−$1.00`: at least two significant digits. */
export function formatDollars(dollars: number): string {
  if (dollars < 0) return `−${formatDollars(-dollars)}`;
  const digits =
    dollars === 0 || dollars >= 0.095 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** `60 % less`, `3 % more`, `the same` */
export function formatSaving(without: number, left: number): string {
  const share = without === 0 ? 0 : (without - left) / without;
  if (Math.abs(share) < 0.005) return 'the same';
  return `${formatCount(Math.abs(share) * 100)} % ${share > 0 ? 'less' : 'more'}`;
}

/** Matches dollars per million tokens: for input, for cache reads, and for cache writes. */
const DOLLARS = /^(\d+(?:\.\d+)?)(?:\/(\d+(?:\.\d+)?))?(?:\/(\d+(?:\.\d+)?))?$/;

/** Parses `--price`: a model with a known price, or dollars; omitted dollars default to those of input. @throws what `fail` throws. */
export function readPrice(text: string, fail: Fail): ModelPrice {
  const [, input, cacheRead = input, cacheWrite = input] = DOLLARS.exec(text) ?? [];
  if (input !== undefined) {
    return {
      name: '',
      input: Number(input),
      cacheRead: Number(cacheRead),
      cacheWrite: Number(cacheWrite),
    };
  }
  return (
    modelPrice(text) ??
    fail(
      '--price: expected the id of a model with a known price, such as claude-sonnet-5-5, or ' +
        'dollars per million tokens: input, or input/read/write, such as 3/0.3/3.75.',
    )
  );
}
