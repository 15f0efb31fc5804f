// Sums of prefixes against plain addition, under appends and rewrites.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { PrefixTokens } from '../../../src/main/preflight/token-tally.js';
import type { IContent } from '../../../src/shared/content.js';
import { entries } from '../../support/session-bench.js';
import { runs } from '../../support/scale.js';
import { arbitraryRatio } from '../../support/arbitrary-ratio.js';

describe('PrefixTokens', () => {
  it('returns what addition returns, whatever was appended and rewritten', () => {
    const step = fc.record({
      appended: fc.nat(700),
      at: arbitraryRatio(),
    });
    const property = fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const weights = new Map<IContent, number>();
      const prefixes = new PrefixTokens({ countedTokens: (entry) => weights.get(entry) });
      let history: IContent[] = [];
      const sum = (end: number): number =>
        history.slice(0, end).reduce((total, entry) => total + (weights.get(entry) ?? NaN), 0);
      const append = (length: number): void => {
        for (const entry of entries(length)) {
          weights.set(entry, (weights.size % 97) + 1);
          history.push(entry);
        }
      };
      for (const { appended, at } of steps) {
        append(appended);
        prefixes.mark(history.length, sum(history.length));
        const end = Math.floor(at * history.length);
        prefixes.keep(end);
        expect(prefixes.sum(history, end, sum(history.length))).toBe(sum(end));
        // Everything behind is rewritten.
        history = history.slice(0, end);
        append(Math.ceil(appended / 2));
      }
    });
    fc.assert(property, { numRuns: runs(200) });
  });

  it('copies nothing of a history', () => {
    const prefixes = new PrefixTokens({ countedTokens: () => 1 });
    const slice = (): never => expect.unreachable();
    const history = Object.assign(entries(1_000), { slice });
    expect(prefixes.sum(history, 300, 1_000)).toBe(300);
    expect(prefixes.sum(history, 900, 1_000)).toBe(900);
  });

  it('adds up few entries of a long history', () => {
    let asked = 0;
    const countedTokens = (): number => {
      asked += 1;
      return 1;
    };
    const prefixes = new PrefixTokens({ countedTokens });
    const history = entries(10_000);
    for (let length = 5; length <= 10_000; length += 5) prefixes.mark(length, length);
    for (const end of [9_990, 7_000, 3_000, 3]) {
      asked = 0;
      prefixes.keep(end);
      expect(prefixes.sum(history, end, 10_000)).toBe(end);
      expect(asked).toBeLessThan(260);
    }
  });
});
