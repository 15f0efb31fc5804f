// When work pauses after failures and what ends the pauses, on a fake clock.

import { describe, expect, test } from 'vitest';
import { FailurePauses } from '../../../src/main/offload/failure-pauses.js';

/** Pauses of 100 ms after 2 failures. */
function bench() {
  let time = 0;
  const wait = (milliseconds: number): void => {
    time += milliseconds;
  };
  const pauses = new FailurePauses({ freeFailures: 1, firstPauseMs: 100, now: () => time });
  return { pauses, wait };
}

function fail(pauses: FailurePauses, times: number): void {
  for (let left = times; left > 0; left -= 1) pauses.noteFailure();
}

describe('FailurePauses', () => {
  test('begin after failures in a row, not before', () => {
    const { pauses } = bench();
    pauses.noteFailure();
    pauses.noteSuccess();
    expect(pauses.noteFailure()).toBe(false);
    expect(pauses.isFailing).toBe(false);
    expect(pauses.admits()).toBe(true);
    expect(pauses.noteFailure()).toBe(true);
    expect(pauses.isFailing).toBe(true);
    expect(pauses.admits()).toBe(false);
  });

  test('admit one attempt after each', () => {
    const { pauses, wait } = bench();
    fail(pauses, 2);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      wait(99);
      expect(pauses.admits()).toBe(false);
      wait(1);
      expect(pauses.isFailing).toBe(true);
      expect(pauses.admits()).toBe(true);
      expect(pauses.admits()).toBe(false);
    }
  });

  test('end with a success', () => {
    const { pauses, wait } = bench();
    fail(pauses, 2);
    wait(100);
    expect(pauses.admits()).toBe(true);
    pauses.noteSuccess();
    expect(pauses.isFailing).toBe(false);
    expect([pauses.admits(), pauses.admits()]).toEqual([true, true]);
  });

  test('are not prolonged by late failures', () => {
    const { pauses, wait } = bench();
    fail(pauses, 2);
    wait(90);
    expect(pauses.noteFailure()).toBe(false);
    wait(10);
    expect(pauses.admits()).toBe(true);
  });

  test('double up to the longest', () => {
    let time = 0;
    const options = { freeFailures: 1, firstPauseMs: 250, longestPauseMs: 30_000 };
    const restarts = new FailurePauses({ ...options, now: () => time });
    restarts.noteFailure();
    const pauses = Array.from({ length: 10 }, () => {
      expect(restarts.isPausing).toBe(false);
      restarts.noteFailure();
      const start = time;
      while (restarts.isPausing) time += 250;
      return time - start;
    });
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });
});
