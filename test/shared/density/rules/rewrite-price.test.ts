// When an edit is worth a rewrite of the cache, by prices.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  paybackCallsAt,
  staleTokensNeeded,
  USUAL_PRICES,
} from '../../../../src/shared/density/rules/rewrite-price.js';
import {
  atPrices,
  DEFAULT_WORKING_SET,
} from '../../../../src/shared/density/rules/working-set-rules.js';
import { runs } from '../../../support/scale.js';

/** Stale tokens that have to leave for one that stays. */
function share(read: number, write = 1.25): number {
  const { paybackCalls } = atPrices(DEFAULT_WORKING_SET, { read, write });
  return staleTokensNeeded(1, paybackCalls);
}

describe('paybackCallsAt', () => {
  it('is what it was at the usual prices, in any unit', () => {
    expect(paybackCallsAt(8, USUAL_PRICES)).toBe(8);
    expect(paybackCallsAt(8, { read: 0.5, write: 6.25 })).toBeCloseTo(8);
  });

  it('asks for more the dearer a rewrite is in reads', () => {
    const shares = [0.25, 0.1, 0.05, 0.025].map((read) => share(read));
    expect(shares.map((each) => each.toFixed(2))).toEqual(['0.85', '1.44', '2.08', '2.97']);
  });

  it('is never worth it where reads are free, and always where writes cost no more than reads', () => {
    expect(share(0)).toBe(Infinity);
    expect([share(1.25), share(2)]).toEqual([0, 0]);
  });

  it('keeps what somebody has forbidden or freed, and says a number at any prices', () => {
    const price = fc.double({ min: 0, noNaN: true });
    fc.assert(
      fc.property(price, price, fc.constantFrom(0, 1, 8, Infinity), (read, write, calls) => {
        const found = paybackCallsAt(calls, { read, write });
        expect(found).toBeGreaterThanOrEqual(0);
        if (calls === 0 || calls === Infinity) expect(found).toBe(calls);
      }),
      { numRuns: runs(2_000) },
    );
  });
});

/** A token that is sent: when it came, and from which call on it is stale. */
interface Sent {
  readonly tokens: number;
  readonly staleAt: number;
}

/** The cost of sending results by the rule, and the least that anybody could pay who sends no stale token and rewrites for nothing. */
function play(
  sent: readonly Sent[],
  { read, write }: { read: number; write: number },
  calls: number,
) {
  let standing: { readonly tokens: number; readonly staleAt: number }[] = [];
  let [cost, least, dearest] = [0, 0, 0];
  for (const [call, result] of sent.entries()) {
    let [stale, behind, best, from] = [0, 0, 0, Infinity];
    for (let at = standing.length - 1; at >= 0; at -= 1) {
      const { tokens, staleAt } = standing[at]!;
      if (staleAt > call) behind += tokens;
      else stale += tokens;
      const gain = stale - (behind === 0 ? 0 : staleTokensNeeded(behind, calls));
      if (staleAt > call || gain < best) continue;
      [best, from] = [gain, at];
      dearest = (write - read) * behind;
    }
    if (from < Infinity) {
      standing = standing.filter(({ staleAt }, at) => at < from || staleAt > call);
      cost += dearest;
    }
    cost += standing.reduce((sum, { tokens }) => sum + read * tokens, 0) + write * result.tokens;
    least += write * result.tokens;
    for (const { tokens, staleAt } of sent.slice(0, call))
      if (staleAt > call) least += read * tokens;
    standing.push({ tokens: result.tokens, staleAt: result.staleAt });
  }
  return { cost, least };
}

describe('staleTokensNeeded', () => {
  it('costs at most twice the least there is, where stale tokens leave that are as many as those that stay', () => {
    const result = fc.record({
      tokens: fc.constantFrom(1, 100, 10_000),
      lives: fc.integer({ min: 1, max: 30 }),
    });
    const read = fc.constantFrom(0.25, 0.1, 0.05, 0.025);
    fc.assert(
      fc.property(fc.array(result, { maxLength: 120 }), read, (results, price) => {
        const sent = results.map(({ tokens, lives }, at) => ({ tokens, staleAt: at + lives }));
        const { cost, least } = play(sent, { read: price, write: 1.25 }, 11.5);
        expect(cost).toBeLessThanOrEqual(2 * least + 1e-6);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('costs at most 1 + max(β, 1/β) times the least at the prices that the default goes by', () => {
    const lives = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 120 });
    fc.assert(
      fc.property(lives, fc.constantFrom(0.1, 0.05, 0.025), (all, read) => {
        const beta = share(read);
        const sent = all.map((life, at) => ({ tokens: 1_000, staleAt: at + life }));
        const calls = paybackCallsAt(DEFAULT_WORKING_SET.paybackCalls, { read, write: 1.25 });
        const { cost, least } = play(sent, { read, write: 1.25 }, calls);
        expect(cost).toBeLessThanOrEqual((1 + beta) * least + 1e-6);
      }),
      { numRuns: runs(1_000) },
    );
  });
});
