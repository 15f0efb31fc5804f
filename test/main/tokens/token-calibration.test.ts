// One ratio per model: what is learned from reports, what is not, and how accurate it is.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { TokenCalibration } from '../../../src/main/tokens/token-calibration.js';

/** Numbers from 0 to 1 that are the same for the same seed (xorshift32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

describe('TokenCalibration', () => {
  it('has a ratio of 1 for an unknown model', () => {
    expect(new TokenCalibration().ratioOf('large')).toBe(1);
  });

  it('takes over the first observation, and averages the next ones', () => {
    const calibration = new TokenCalibration();
    expect(calibration.observe('large', 1_500, 1_000)).toBe('learned');
    expect(calibration.ratioOf('large')).toBe(1.5);
    calibration.observe('large', 1_300, 1_000);
    expect(calibration.ratioOf('large')).toBeCloseTo(1.4, 12);
    calibration.observe('large', 1_100, 1_000);
    expect(calibration.ratioOf('large')).toBeCloseTo(1.3, 12);
  });

  it('follows a model that changes: old observations lose a twentieth of their weight each time', () => {
    const calibration = new TokenCalibration();
    for (let at = 0; at < 1_000; at += 1) calibration.observe('large', 1_000, 1_000);
    calibration.observe('large', 2_000, 1_000);
    expect(calibration.ratioOf('large')).toBeCloseTo(1.05, 12);
    for (let at = 0; at < 90; at += 1) calibration.observe('large', 2_000, 1_000);
    expect(calibration.ratioOf('large')).toBeGreaterThan(1.99);
  });

  it('keeps models apart, and an unnamed one apart from all', () => {
    const calibration = new TokenCalibration();
    calibration.observe('large', 1_500, 1_000);
    calibration.observe(undefined, 800, 1_000);
    expect(['large', 'small', undefined].map((name) => calibration.ratioOf(name))).toEqual([
      1.5, 1, 0.8,
    ]);
  });

  it.each([
    [499, 499, 'too-small'],
    [500, 500, 'learned'],
    [0, 0, 'too-small'],
    [9_000, 20, 'too-small'],
    [249, 1_000, 'too-low'],
    [250, 1_000, 'learned'],
    [0, 1_000, 'too-low'],
    [-1, 1_000, 'too-low'],
    [-1, 20, 'too-low'],
    [4_000, 1_000, 'learned'],
    [4_001, 1_000, 'too-high'],
    [NaN, 1_000, 'not-finite'],
    [1_000, NaN, 'not-finite'],
    [Infinity, 1_000, 'not-finite'],
    [1_000, Infinity, 'not-finite'],
  ])('returns for %d reported and %d counted tokens: %s', (reported, counted, outcome) => {
    const calibration = new TokenCalibration();
    calibration.observe('large', 1_200, 1_000);
    expect(calibration.observe('large', reported, counted)).toBe(outcome);
    if (outcome !== 'learned') expect(calibration.ratioOf('large')).toBe(1.2);
    else expect(calibration.ratioOf('large')).not.toBe(1.2);
  });

  it('has a ratio from 0.25 to 4 whatever is reported', () => {
    const tokens = fc.oneof(fc.double(), fc.integer({ min: -10, max: 20_000 }));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(tokens, tokens), { size: 'max', maxLength: 200 }),
        (reports) => {
          const calibration = new TokenCalibration();
          for (const [reported, counted] of reports) {
            const before = calibration.ratioOf('large');
            const outcome = calibration.observe('large', reported, counted);
            const ratio = calibration.ratioOf('large');
            expect(ratio).toBeGreaterThanOrEqual(0.25);
            expect(ratio).toBeLessThanOrEqual(4);
            if (outcome !== 'learned') expect(ratio).toBe(before);
          }
        },
      ),
    );
  });

  it('is less than 1 % off on requests that it has not seen, when reports are 3 % off', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = randomNumbers(seed);
      const countedTokens = (): number => 1_000 + Math.floor(random() * 100_000);
      const calibration = new TokenCalibration();
      for (let request = 0; request < 40; request += 1) {
        const counted = countedTokens();
        const reported = Math.round(counted * 1.5 * (1 + 0.03 * (2 * random() - 1)));
        calibration.observe('large', reported, counted);
      }
      for (let request = 0; request < 20; request += 1) {
        const counted = countedTokens();
        const predicted = counted * calibration.ratioOf('large');
        expect(Math.abs(predicted / (counted * 1.5) - 1), `seed ${seed}`).toBeLessThan(0.01);
      }
    }
  });
});
