// Confidence intervals over sessions.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bootstrap } from '../../../bench/fidelity/bootstrap.js';
import { runs } from '../../support/scale.js';

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe('bootstrap', () => {
  it('returns the same interval for the same sessions, around their figure', () => {
    const sessions = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
      minLength: 5,
      maxLength: 20,
    });
    fc.assert(
      fc.property(sessions, (values) => {
        const interval = bootstrap(values, mean);
        expect(bootstrap(values, mean)).toEqual(interval);
        expect(interval.low).toBeLessThanOrEqual(mean(values) + 1e-9);
        expect(interval.high).toBeGreaterThanOrEqual(mean(values) - 1e-9);
      }),
      { numRuns: runs(50) },
    );
  });

  it('has the theoretical width for a mean', () => {
    const values = Array.from({ length: 100 }, (_, at) => at / 99);
    const { low, high } = bootstrap(values, mean);
    const deviation = Math.sqrt(mean(values.map((value) => (value - 0.5) ** 2)) / 100);
    expect(high - low).toBeGreaterThan(0.85 * 3.92 * deviation);
    expect(high - low).toBeLessThan(1.15 * 3.92 * deviation);
  });

  it('draws whole sessions, with replacement, and omits sessions without a figure', () => {
    const drawn = new Set<number>();
    bootstrap([1, 2, 3], (values) => {
      expect(values).toHaveLength(3);
      drawn.add(new Set(values).size);
      return values[0] === 1 ? NaN : 0;
    });
    expect([...drawn].sort()).toEqual([1, 2, 3]);
    expect(bootstrap([1, 2, 3], (values) => (values[0] === 1 ? NaN : 7))).toEqual({
      low: 7,
      high: 7,
    });
  });
});
