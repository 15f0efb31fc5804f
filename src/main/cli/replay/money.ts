// What the requests of sessions come to: tokens, what a cache answered of them, and dollars where a price is known.

import { inputCost } from '../../../index.js';
import type { ModelPrice } from '../../../index.js';
import { formatCount } from '../terminal/text-layout.js';
import type { RecordedRequest } from './recorded-requests.js';

/** One way of sending. */
export interface InputSum {
  readonly sentTokens: number;
  readonly cacheReadTokens: number;
  /** Dollars; `null` where no price is known. */
  readonly cost: number | null;
}

/** What was sent, with ctxfold and without. */
export interface InputSums {
  readonly requests: number;
  readonly with: InputSum;
  readonly without: InputSum;
  /** Requests for which an edit had changed what the one before began with. */
  readonly rewrites: number;
}

/** Adds requests up. */
export function sumInput(
  requests: readonly RecordedRequest[],
  price: ModelPrice | null,
): InputSums {
  const side = (key: 'with' | 'without'): InputSum =>
    requests.reduce<InputSum>(
      (sum, { [key]: { sentTokens, cacheReadTokens } }) => ({
        sentTokens: sum.sentTokens + sentTokens,
        cacheReadTokens: sum.cacheReadTokens + cacheReadTokens,
        cost:
          price === null ? null : (sum.cost ?? 0) + inputCost(price, sentTokens, cacheReadTokens),
      }),
      { sentTokens: 0, cacheReadTokens: 0, cost: price === null ? null : 0 },
    );
  return {
    requests: requests.length,
    with: side('with'),
    without: side('without'),
    rewrites: requests.filter(({ isRewrite }) => isRewrite).length,
  };
}

/** Adds sums up; a cost only where each of them has one. */
export function addInput(sums: readonly InputSums[]): InputSums {
  const total = (valueOf: (sum: InputSums) => number): number =>
    sums.reduce((so, sum) => so + valueOf(sum), 0);
  const side = (key: 'with' | 'without'): InputSum => ({
    sentTokens: total((sum) => sum[key].sentTokens),
    cacheReadTokens: total((sum) => sum[key].cacheReadTokens),
    cost: sums.some((sum) => sum[key].cost === null) ? null : total((sum) => sum[key].cost ?? 0),
  });
  return {
    requests: total(({ requests }) => requests),
    with: side('with'),
    without: side('without'),
    rewrites: total(({ rewrites }) => rewrites),
  };
}

/** `$12.30`, `$0.0042`: at least two digits that say something. */
export function formatDollars(dollars: number): string {
  const digits =
    dollars === 0 || dollars >= 0.095 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** `60 % less`, `3 % more`, `as much` */
export function formatSaving(without: number, left: number): string {
  const share = without === 0 ? 0 : (without - left) / without;
  if (Math.abs(share) < 0.005) return 'as much';
  return `${formatCount(Math.abs(share) * 100)} % ${share > 0 ? 'less' : 'more'}`;
}
