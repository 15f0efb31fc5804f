// Sums in tokens and dollars.

import { describe, expect, test } from 'vitest';
import { moneySentences, pricesSentence, sumInput } from '../../../src/cli/replay/money.js';
import { MODEL_PRICES_DATE, modelPrice } from '../../../src/index.js';
import type { UsedPrice, RecordedRequest } from '../../../src/cli/replay/money.js';

const size = (sentTokens: number, cacheReadTokens: number, dollars: number) => ({
  ...{ sentTokens, cacheReadTokens, dollars },
});
const request = (at: number): RecordedRequest => ({
  ...{ atMs: at, isCold: at === 0, requests: 1, rewrites: at },
  with: size(1_000_000, 0, 5),
  without: size(2_000_000, 1_000_000, 6),
  savedBy: { 'working-set': 1.5, ...(at === 0 && { other: -0.5 }) },
});
const known: UsedPrice = { price: modelPrice('claude-opus-5-5')!, origin: 'recorded' };
const assumed: UsedPrice = { price: modelPrice('claude-sonnet-4-6')!, origin: 'assumed' };

describe('sumInput', () => {
  test('adds up tokens and dollars by rule, and counts rewrites', () => {
    expect(sumInput([request(0), request(1)])).toEqual({
      requests: 2,
      with: size(2_000_000, 0, 10),
      without: size(4_000_000, 2_000_000, 12),
      rewrites: 1,
      savedBy: { 'working-set': 3, other: -0.5 },
    });
  });

  test('adds up sums like requests', () => {
    expect(sumInput([sumInput([request(0)]), sumInput([request(1)])])).toEqual(
      sumInput([request(0), request(1)]),
    );
  });
});

describe('moneySentences', () => {
  test('name the costs, the savings by rule, and the prices', () => {
    const said = moneySentences(sumInput([request(0), request(1)]), [known]);
    expect(said).toEqual([
      'The input of 2 model calls costs $10.00 instead of $12.00: 17 % less. Read from the cache: 0.0 % with ctxfold, 50.0 % without.',
      'Saved by unused results $3.00, other −$0.50.',
      `Prices per million tokens (${MODEL_PRICES_DATE}): claude-opus-5-5 $4 input, $0.2 cache read, $5 cache write.`,
    ]);
    expect(moneySentences(sumInput([]), [known])).toEqual([]);
  });

  test('leave out savings that would be shown as zero', () => {
    const input = { ...request(1), savedBy: { compression: 142_653.48, other: -4e-7 } };
    expect(moneySentences(input, [known])[1]).toBe('Saved by compression $142,653.48.');
  });
});

describe('pricesSentence', () => {
  test('names the assumed price, and how to set another', () => {
    expect(pricesSentence([assumed])).toBe(
      `The recording names no model with a known price. Assumed per million tokens (${MODEL_PRICES_DATE}): claude-sonnet-4-6 $3 input, $0.3 cache read, $3.75 cache write; --price sets another.`,
    );
    expect(pricesSentence([known, assumed, known])).toContain('Some recordings name no');
  });

  test('shows a price without a name', () => {
    const price = { name: '', input: 3, cacheRead: 0.3, cacheWrite: 3.75 };
    expect(pricesSentence([{ price, origin: 'given' }])).toContain(
      'tokens: $3 input, $0.3 cache read, ',
    );
  });
});
