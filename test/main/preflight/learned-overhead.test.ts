// What the usage of whole requests tells about uncounted tokens, and about how a model counts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { LearnedOverhead } from '../../../src/main/preflight/learned-overhead.js';
import type { UsageMemory } from '../../../src/main/state/session-state.js';
import { TokenCalibration } from '../../../src/main/tokens/token-calibration.js';
import { arbitraryRatio } from '../../support/arbitrary-ratio.js';
import { runs } from '../../support/scale.js';

const MODEL = 'claude';

interface World {
  readonly calibration: TokenCalibration;
  readonly unseen: LearnedOverhead;
  /** Reports a request with that history. */
  readonly call: (countedTokens: number, reportedTokens?: number) => string;
  /** The expected tokens of the next request. */
  readonly expected: (countedTokens: number) => number;
}

/** A model that counts `ratio` tokens for each counted one, and requests with another `overhead`. */
function world(overhead: number, ratio: number): World {
  const calibration = new TokenCalibration();
  const unseen = new LearnedOverhead(calibration);
  return {
    calibration,
    unseen,
    call: (countedTokens, reportedTokens = overhead + ratio * countedTokens) =>
      unseen.observe({ modelName: MODEL, reportedTokens, countedTokens }),
    expected: (countedTokens) => unseen.tokens + calibration.ratioOf(MODEL) * countedTokens,
  };
}

describe('LearnedOverhead', () => {
  it('is none before a report, and after the first all that the history does not explain', () => {
    const { unseen, call, calibration } = world(27_000, 1.5);
    expect(unseen.tokens).toBe(0);
    expect(call(400)).toBe('too-small');
    expect(unseen.tokens).toBe(27_200);
    expect(calibration.learnedOf(MODEL).observations).toBe(0);
  });

  it('distinguishes ratio from overhead by the difference of two requests', () => {
    const { unseen, call, calibration } = world(27_000, 1.5);
    call(400);
    expect(call(10_400)).toBe('learned');
    expect(calibration.ratioOf(MODEL)).toBe(1.5);
    expect(unseen.tokens).toBe(27_000);
  });

  it('continues in another process', () => {
    const { unseen, call, calibration } = world(27_000, 1.5);
    expect(unseen.memory).toBeNull();
    call(400);
    call(300, 50_000);
    const memory = JSON.parse(JSON.stringify(unseen.memory)) as UsageMemory;
    const later = new LearnedOverhead(calibration, memory);
    expect(later.tokens).toBe(unseen.tokens);
    expect(later.memory).toEqual(memory);
    const usage = { modelName: MODEL, reportedTokens: 42_600, countedTokens: 10_400 };
    expect([later, unseen].map((each) => each.observe(usage))).toEqual(['too-low', 'too-low']);
    expect(later.tokens).toBe(unseen.tokens);
  });

  it('learns from a compacted history, too', () => {
    const { unseen, call, calibration } = world(27_000, 1.5);
    call(100_000);
    expect(call(104_000)).toBe('too-small');
    expect(call(20_000)).toBe('learned');
    expect(calibration.ratioOf(MODEL)).toBe(1.5);
    expect(unseen.tokens).toBe(27_000);
  });

  it('does not grow by a report that sums several requests', () => {
    for (const wrong of [0, 2]) {
      const { unseen, call } = world(27_000, 1);
      [1_000, 5_000, 9_000, 13_000].forEach((counted, at) =>
        call(counted, at === wrong ? 500_000 : undefined),
      );
      expect(unseen.tokens).toBe(27_000);
    }
  });

  it('learns the ratio although the first report summed several requests', () => {
    const { call, calibration } = world(27_000, 1.5);
    call(1_000, 500_000);
    expect(call(10_000)).toBe('too-low');
    expect(call(30_000)).toBe('learned');
    expect(calibration.ratioOf(MODEL)).toBe(1.5);
  });

  it('is forgotten for another model, and never negative', () => {
    const { unseen, call } = world(27_000, 1);
    call(1_000);
    unseen.observe({ modelName: 'small', reportedTokens: 800, countedTokens: 1_000 });
    expect(unseen.tokens).toBe(0);
  });

  it('predicts requests exactly once the ratio is learned, and better than without a report before', () => {
    const growths = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(fc.nat(60_000), arbitraryRatio(0.5, 2), growths, (overhead, ratio, each) => {
        const { call, expected } = world(overhead, ratio);
        let counted = 0;
        let isLearned = false;
        for (const [at, growth] of each.entries()) {
          counted += growth;
          const error = Math.abs(expected(counted) - (overhead + ratio * counted));
          if (at > 0)
            expect(error).toBeLessThan((isLearned ? 0 : Math.abs(ratio - 1)) * counted + 2);
          isLearned = call(counted) === 'learned' || isLearned;
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('stays close with reports that are off by up to a hundredth', () => {
    const growths = fc.array(fc.integer({ min: 1_000, max: 9_000 }), {
      minLength: 12,
      maxLength: 30,
    });
    const noises = fc.array(arbitraryRatio(0.99, 1.01), { minLength: 30, maxLength: 30 });
    fc.assert(
      fc.property(
        fc.nat(40_000),
        arbitraryRatio(0.8, 1.8),
        growths,
        noises,
        (overhead, ratio, each, noise) => {
          const { call, expected } = world(overhead, ratio);
          let counted = 0;
          each.forEach((growth, at) => {
            counted += growth;
            call(counted, (overhead + ratio * counted) * (noise[at] ?? 1));
          });
          const real = overhead + ratio * counted;
          expect(Math.abs(expected(counted) - real)).toBeLessThan(0.1 * real);
        },
      ),
      { numRuns: runs(2_000) },
    );
  });
});
