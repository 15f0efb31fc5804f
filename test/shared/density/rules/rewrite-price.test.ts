// When an edit is worth a rewrite of the cache, by prices.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  paybackCallsAt,
  staleTokensNeeded,
  USUAL_PRICES,
  atPrices,
} from '../../../../src/shared/density/rules/rewrite-price.js';
import { DEFAULT_WORKING_SET } from '../../../../src/shared/density/rules/working-set-rules.js';
import { runs } from '../../../support/scale.js';

/** Stale tokens needed for each token that stays. */
function share(read: number, write = 1.25): number {
  const { paybackCalls } = atPrices(DEFAULT_WORKING_SET, { read, write });
  return staleTokensNeeded(1, paybackCalls);
}

describe('paybackCallsAt', () => {
  it('is unchanged at the usual prices, in any unit', () => {
    expect(paybackCallsAt(8, USUAL_PRICES)).toBe(8);
    expect(paybackCallsAt(8, { read: 0.5, write: 6.25 })).toBeCloseTo(8);
  });

  it('asks for more the more expensive a rewrite is compared to reads', () => {
    const shares = [0.25, 0.1, 0.05, 0.025].map((read) => share(read));
    expect(shares.map((each) => each.toFixed(2))).toEqual(['0.85', '1.44', '2.08', '2.97']);
  });

  it('is never worth it if reads are free, and always if writes cost no more than reads', () => {
    expect(share(0)).toBe(Infinity);
    expect([share(1.25), share(2)]).toEqual([0, 0]);
  });

  it('keeps 0 and Infinity, and returns a number at any prices', () => {
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

/** A sent result: its tokens, and the call from which on it is stale. */
interface Sent {
  readonly tokens: number;
  readonly staleAt: number;
}

/** The cost of sending results by the rule, and the minimum for a sender without stale tokens that rewrites for free. */
function play(
  sent: readonly Sent[],
  { read, write }: { read: number; write: number },
  calls: number,
): { readonly cost: number; readonly least: number } {
  let standing: readonly Sent[] = [];
  let [cost, least] = [0, 0];
  for (const [call, result] of sent.entries()) {
    let [stale, behind, best, from, rewrite] = [0, 0, 0, Infinity, 0];
    for (let at = standing.length - 1; at >= 0; at -= 1) {
      const { tokens, staleAt } = standing[at]!;
      if (staleAt > call) behind += tokens;
      else stale += tokens;
      const gain = stale - (behind === 0 ? 0 : staleTokensNeeded(behind, calls));
      if (staleAt > call || gain < best) continue;
      [best, from, rewrite] = [gain, at, (write - read) * behind];
    }
    if (from < Infinity) {
      standing = standing.filter(({ staleAt }, at) => at < from || staleAt > call);
      cost += rewrite;
    }
    cost += standing.reduce((sum, { tokens }) => sum + read * tokens, 0) + write * result.tokens;
    const readings = Math.max(0, Math.min(result.staleAt, sent.length) - call - 1);
    least += (write + read * readings) * result.tokens;
    if (result.tokens > 0) standing = [...standing, result];
  }
  return { cost, least };
}

type Result = readonly [tokens: number, lives: number];

/** Longer than nearly everything else lasts. */
const LONG = 1_000;

/** Cases that chance is unlikely to find: results that become stale one by one ahead of much that stays, and much that is stale ahead of little. */
const adversary: fc.Arbitrary<readonly Result[]> = fc
  .record({
    ahead: fc.integer({ min: 1, max: 12 }),
    tokens: fc.integer({ min: 1, max: 40 }),
    behind: fc.integer({ min: 1, max: 60 }),
    isStaggered: fc.boolean(),
  })
  .map(({ ahead, tokens, behind, isStaggered }) => [
    ...Array.from({ length: ahead }, (_, at): Result => [
      tokens,
      isStaggered ? ahead + 1 : ahead - at,
    ]),
    [behind, LONG] as const,
  ]);

/** Random results, with adversaries among them, and then calls without results. */
const sessions: fc.Arbitrary<readonly Sent[]> = fc
  .tuple(
    fc.array(
      fc.oneof(
        adversary,
        fc.array(
          fc.tuple(
            fc.constantFrom(1, 10, 100),
            fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(LONG)),
          ),
          { maxLength: 30 },
        ),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    fc.constantFrom(0, 30, LONG),
  )
  .map(([parts, idle]) => {
    const results: readonly Result[] = [...parts.flat(), ...Array<Result>(idle).fill([0, 1])];
    return results.map(([tokens, lives], at) => ({ tokens, staleAt: at + lives }));
  });

const read = fc.constantFrom(0.25, 0.1, 0.05, 0.025);

describe('staleTokensNeeded', () => {
  it('costs at most twice the minimum, if as many stale tokens are removed as stay', () => {
    fc.assert(
      fc.property(sessions, read, (sent, price) => {
        const { cost, least } = play(sent, { read: price, write: 1.25 }, 11.5);
        expect(cost).toBeLessThanOrEqual(2 * least + 1e-6);
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("costs at most 1 + max(β, 1/β) times the minimum at the default's prices", () => {
    fc.assert(
      fc.property(sessions, fc.constantFrom(0.1, 0.05, 0.025), (sent, price) => {
        // Written out: computed by the rule itself, any constant would pass.
        const beta = Math.sqrt(11.5 * (1.25 / price - 1)) / 8;
        const prices = { read: price, write: 1.25 };
        const calls = paybackCallsAt(DEFAULT_WORKING_SET.paybackCalls, prices);
        const { cost, least } = play(sent, prices, calls);
        expect(cost).toBeLessThanOrEqual((1 + Math.max(beta, 1 / beta)) * least + 1e-6);
      }),
      { numRuns: runs(5_000) },
    );
  });
});
