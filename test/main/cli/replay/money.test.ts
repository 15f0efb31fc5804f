// Sums in tokens and dollars.

import { describe, expect, test } from 'vitest';
import {
  addInput,
  formatDollars,
  formatSaving,
  sumInput,
} from '../../../../src/main/cli/replay/money.js';
import type { RecordedRequest } from '../../../../src/main/cli/replay/recorded-requests.js';

const size = (sentTokens: number, cacheReadTokens: number) => ({ sentTokens, cacheReadTokens });
const request = (at: number): RecordedRequest => ({
  ...{ atMs: at, isRewrite: at === 1, isCold: at === 0 },
  with: size(1_000_000, 0),
  without: size(2_000_000, 1_000_000),
});
const PRICE = { name: 'm', input: 4, cacheRead: 1, cacheWrite: 5 };

describe('sumInput', () => {
  test('adds tokens and dollars, and counts rewrites', () => {
    expect(sumInput([request(0), request(1)], PRICE)).toEqual({
      requests: 2,
      with: { ...size(2_000_000, 0), cost: 10 },
      without: { ...size(4_000_000, 2_000_000), cost: 12 },
      rewrites: 1,
    });
  });

  test('knows no cost without a price', () => {
    expect(sumInput([request(0)], null).with.cost).toBeNull();
  });
});

describe('addInput', () => {
  test('has a cost only where each part has one', () => {
    const [priced, other] = [sumInput([request(0)], PRICE), sumInput([request(0)], null)];
    expect(addInput([priced, priced]).with.cost).toBe(10);
    expect(addInput([priced, other])).toMatchObject({
      requests: 2,
      with: { sentTokens: 2_000_000, cost: null },
    });
  });
});

describe('formatDollars', () => {
  test.each([
    [1234.5, '$1,234.50'],
    [0.1, '$0.10'],
    [0.0042, '$0.0042'],
    [0, '$0.00'],
  ])('%d is %s', (dollars, text) => {
    expect(formatDollars(dollars)).toBe(text);
  });
});

describe('formatSaving', () => {
  test.each([
    [100, 40, '60 % less'],
    [100, 103, '3 % more'],
    [100, 100, 'as much'],
    [0, 0, 'as much'],
  ])('%d to %d is %s', (without, left, text) => {
    expect(formatSaving(without, left)).toBe(text);
  });
});
