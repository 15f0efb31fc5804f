// The pauses between restarts, on a fake clock.

import { describe, expect, test } from 'vitest';
import { RestartBackoff } from '../../../src/main/offload/circuit-breaker.js';

describe('RestartBackoff', () => {
  test('restarts at once after one loss, and after a success', () => {
    const backoff = new RestartBackoff(() => 0);
    expect(backoff.mayStart).toBe(true);
    backoff.noteLoss();
    expect(backoff.mayStart).toBe(true);
    backoff.noteLoss();
    expect(backoff.mayStart).toBe(false);
    backoff.noteSuccess();
    expect(backoff.mayStart).toBe(true);
  });

  test('pauses double up to 30 seconds', () => {
    let time = 0;
    const backoff = new RestartBackoff(() => time);
    backoff.noteLoss();
    const pauses = Array.from({ length: 10 }, () => {
      backoff.noteLoss();
      const start = time;
      while (!backoff.mayStart) time += 250;
      return time - start;
    });
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });
});
