// The search for better settings.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fit } from '../../../../bench/fidelity/tuning/fit.js';
import { runs } from '../../../support/scale.js';

describe('fit', () => {
  it('finds the best of halves and doubles for each number', () => {
    const loss = ({ a, b }: { readonly a: number; readonly b: number }): number =>
      Math.abs(a - 40) + Math.abs(b - 3);
    expect(fit({ a: 10, b: 0 }, ['a', 'b'], loss)).toEqual({ a: 40, b: 3 });
  });

  it('keeps numbers that may not change', () => {
    expect(fit({ a: 10, b: 1 }, ['b'], ({ a, b }) => a + b).a).toBe(10);
  });

  it('never returns worse numbers, and keeps the present ones if they are as good', () => {
    const numbers = fc.record({ a: fc.nat(100), b: fc.nat(100) });
    fc.assert(
      fc.property(numbers, fc.func(fc.integer()), (start, loss) => {
        const of = (tried: typeof start): number => loss(tried);
        expect(of(fit(start, ['a', 'b'], of))).toBeLessThanOrEqual(of(start));
        expect(fit(start, ['a', 'b'], () => 1)).toBe(start);
      }),
      { numRuns: runs(100) },
    );
  });
});
