// When the breaker opens and what closes it, on a fake clock.

import { describe, expect, test } from 'vitest';
import { CircuitBreaker } from '../../../src/main/offload/circuit-breaker.js';
import type { WorkOutcome } from '../../../src/main/offload/circuit-breaker.js';

interface Bench {
  readonly breaker: CircuitBreaker;
  /** Admits a piece of work and ends it; returns whether it was admitted. */
  readonly work: (outcome: WorkOutcome) => boolean;
  readonly wait: (milliseconds: number) => void;
}

/** A breaker that opens after 2 failures for 100 ms. */
function bench(): Bench {
  let time = 0;
  const breaker = new CircuitBreaker({ failureThreshold: 2, coolDownMs: 100, now: () => time });
  return {
    breaker,
    work: (outcome) => {
      const permit = breaker.admit();
      if (permit !== undefined) breaker.report(permit, outcome);
      return permit !== undefined;
    },
    wait: (milliseconds) => {
      time += milliseconds;
    },
  };
}

describe('CircuitBreaker', () => {
  test('opens after consecutive failures, not before', () => {
    const { breaker, work } = bench();
    work('failure');
    work('success');
    work('failure');
    expect(breaker.isOpen).toBe(false);
    work('failure');
    expect(breaker.isOpen).toBe(true);
    expect(work('success')).toBe(false);
  });

  test('cancelled work neither adds to a row of failures nor ends it', () => {
    const { breaker, work } = bench();
    work('failure');
    work('cancelled');
    expect(breaker.isOpen).toBe(false);
    work('failure');
    expect(breaker.isOpen).toBe(true);
  });

  test('admits one probe after the cool-down', () => {
    const { breaker, work, wait } = bench();
    work('failure');
    work('failure');
    wait(99);
    expect(breaker.admit()).toBeUndefined();
    wait(1);
    expect(breaker.admit()).toEqual({ isProbe: true });
    expect(breaker.admit()).toBeUndefined();
  });

  test.each([
    ['success', false],
    ['failure', true],
  ] as const)('a probe that ends in %s leaves it open: %s', (outcome, isOpen) => {
    const { breaker, work, wait } = bench();
    work('failure');
    work('failure');
    wait(100);
    expect(work(outcome)).toBe(true);
    expect(breaker.isOpen).toBe(isOpen);
    expect(work('cancelled')).toBe(!isOpen);
  });

  test('a cancelled probe makes room for another one', () => {
    const { work, wait } = bench();
    work('failure');
    work('failure');
    wait(100);
    expect(work('cancelled')).toBe(true);
    expect(work('success')).toBe(true);
  });

  test('late failures do not put off the next probe', () => {
    const { breaker, work, wait } = bench();
    const late = breaker.admit();
    work('failure');
    work('failure');
    wait(90);
    if (late !== undefined) breaker.report(late, 'failure');
    wait(10);
    expect(breaker.admit()).toEqual({ isProbe: true });
  });
});
