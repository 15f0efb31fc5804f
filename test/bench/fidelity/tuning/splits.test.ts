// Splits of sessions into halves.

import { describe, expect, it } from 'vitest';
import { contextOf } from '../../../../bench/fidelity/recorded-session.js';
import { splitsOf } from '../../../../bench/fidelity/tuning/splits.js';
import { transcriptOf } from '../support/made-session.js';

const contexts = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].flatMap((source) =>
  [1, 2].map(() => contextOf(source, source.charAt(0), transcriptOf(), [], 0)),
);

describe('splitsOf', () => {
  const splits = splitsOf(contexts, 20);

  it('puts every context in one half, and no session in both', () => {
    for (const { fitted, heldOut } of splits) {
      expect(new Set([...fitted, ...heldOut])).toEqual(new Set(contexts));
      expect(fitted.length + heldOut.length).toBe(contexts.length);
      const sources = new Set(fitted.map(({ source }) => source));
      expect(heldOut.filter(({ source }) => sources.has(source))).toEqual([]);
    }
  });

  it('puts half of the sessions of each format in each half', () => {
    for (const { fitted } of splits) {
      const count = (format: string): number =>
        fitted.filter((each) => each.format === format).length;
      expect([count('a'), count('b')]).toEqual([4, 2]);
    }
  });

  it('splits differently each time, and equally for the same seed', () => {
    const keyOf = ({ fitted }: (typeof splits)[number]): string =>
      fitted.map(({ source }) => source).join();
    expect(new Set(splits.map(keyOf)).size).toBeGreaterThan(5);
    expect(splitsOf(contexts, 20).map(keyOf)).toEqual(splits.map(keyOf));
    expect(splitsOf(contexts, 20, 2).map(keyOf)).not.toEqual(splits.map(keyOf));
  });
});
