// From the model's window to the tokens that histories are counted in, and back.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { TokenBudget } from '../../../src/main/preflight/context-gauge.js';
import { assertTokens } from '../../../src/shared/misuse.js';
import { runs } from '../../support/scale.js';
import { arbitraryRatio } from '../../support/arbitrary-ratio.js';

const window = (contextLimit: number, overheadTokens = 0, ratio = 1): TokenBudget =>
  new TokenBudget({ contextLimit, overheadTokens, ratio });

describe('TokenBudget', () => {
  it('leaves every number as it is when nothing is known and nothing is taken', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000_000 }),
        fc.nat(2_000_000),
        fc.nat(2_000_000),
        arbitraryRatio(0.01, 1),
        (limit, pending, tokens, share) => {
          const budget = window(limit);
          expect(budget.windowTokens(0)).toBe(limit);
          expect(budget.toModelTokens(tokens)).toBe(tokens);
          expect(tokens <= budget.roomTokens(pending)).toBe(tokens + pending <= limit);
          expect(tokens >= budget.thresholdTokens(share, pending)).toBe(
            tokens + pending >= share * limit,
          );
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  it('has less room for a model that makes more tokens of a text', () => {
    const budget = window(3_000, 600, 1.5);
    expect(budget.windowTokens(0)).toBe(1_600);
    expect(budget.windowTokens(300)).toBe(1_400);
    expect(budget.roomTokens(300)).toBe(1_400);
    expect(budget.thresholdTokens(0.5, 300)).toBe(400);
    expect(budget.toModelTokens(1_001)).toBe(1_502);
  });

  it('has room below nothing for what does not fit by itself, and leaves strategies a token to aim at', () => {
    const budget = window(1_000, 1_200, 2);
    expect(budget.roomTokens(0)).toBe(-100);
    expect(budget.windowTokens(0)).toBe(1);
  });

  it('has as much room as the model says, to within a token', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 2_000_000 }),
        fc.nat(500),
        fc.nat(400),
        arbitraryRatio(0.25, 4),
        (limit, overhead, pending, ratio) => {
          const budget = window(limit, overhead, ratio);
          const most = Math.floor(budget.roomTokens(pending));
          const rest = limit - overhead - pending;
          expect(budget.toModelTokens(most)).toBeLessThanOrEqual(rest + 1);
          expect(budget.toModelTokens(most + 1)).toBeGreaterThanOrEqual(rest);
        },
      ),
    );
  });
});

describe('assertTokens', () => {
  it.each([0, 0.5, 1, 1e9])('takes %d', (tokens) => {
    expect(() => {
      assertTokens('inputTokens', tokens);
    }).not.toThrow();
  });

  it.each([-1, NaN, Infinity, -Infinity])('refuses %d', (tokens) => {
    expect(() => {
      assertTokens('inputTokens', tokens);
    }).toThrow(new RangeError(`Expected inputTokens of at least 0, got ${tokens}.`));
  });

  it.each([undefined, null, '12', 3n, {}])('refuses %s, which is no number', (tokens) => {
    expect(() => {
      assertTokens('inputTokens', tokens as number);
    }).toThrow(TypeError);
  });
});
