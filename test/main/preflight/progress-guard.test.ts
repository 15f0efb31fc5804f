// When automatic compressions are held: after one that did not help, and after several failures.

import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { ProgressGuard } from '../../../src/main/preflight/progress-guard.js';
import type { FailureMemory } from '../../../src/main/state/session-state.js';
import { runs } from '../../support/scale.js';

interface TimedGuard {
  readonly guard: ProgressGuard;
  readonly pass: (ms: number) => void;
}

/** A guard that requires 50 tokens of growth, and a clock that a test advances. */
function timedGuard(failures?: FailureMemory): TimedGuard {
  let nowMs = 1_000;
  const guard = new ProgressGuard({
    minGrowthTokens: () => 50,
    now: () => nowMs,
    former: { floorTokens: 0, failures },
  });
  return {
    guard,
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

function failTimes(guard: ProgressGuard, times: number): void {
  for (let failure = 0; failure < times; failure += 1) guard.noteFailure();
}

describe('ProgressGuard', () => {
  describe('after a compression that ran to its end', () => {
    it('holds nothing at first', () => {
      expect(timedGuard().guard.holdReason(0)).toBeNull();
    });

    it('holds nothing when that got below the threshold', () => {
      const { guard } = timedGuard();
      guard.noteEnd(800, true);
      expect(guard.holdReason(800)).toBeNull();
    });

    it.each([
      [0, 'no-growth'],
      [900, 'no-growth'],
      [949, 'no-growth'],
      [950, null],
      [2_000, null],
    ])('holds a history of %i tokens when 900 were left over the threshold: %s', (tokens, hold) => {
      const { guard } = timedGuard();
      guard.noteEnd(900, false);
      expect(guard.holdReason(tokens)).toBe(hold);
    });

    it('follows the last one', () => {
      const { guard } = timedGuard();
      guard.noteEnd(900, false);
      guard.noteEnd(1_000, false);
      expect(guard.holdReason(1_049)).toBe('no-growth');
      guard.noteEnd(1_100, true);
      expect(guard.holdReason(1_000)).toBeNull();
    });

    it('does not accept time in place of growth', () => {
      const { guard, pass } = timedGuard();
      guard.noteEnd(900, false);
      pass(1e9);
      expect(guard.holdReason(949)).toBe('no-growth');
    });
  });

  describe('noteShrunk', () => {
    it('measures growth from what is left', () => {
      const { guard } = timedGuard();
      guard.noteEnd(900, false);
      guard.noteShrunk(400);
      expect(guard.holdReason(449)).toBe('no-growth');
      expect(guard.holdReason(450)).toBeNull();
    });

    it('never requires more growth than before', () => {
      const { guard } = timedGuard();
      guard.noteEnd(900, false);
      guard.noteShrunk(940);
      expect(guard.holdReason(950)).toBeNull();
      guard.noteEnd(300, true);
      guard.noteShrunk(300);
      expect(guard.holdReason(0)).toBeNull();
    });
  });

  describe('noteCut', () => {
    it('counts what was cut off as growth', () => {
      const { guard } = timedGuard();
      guard.noteEnd(1_100, false);
      guard.noteCut(1_100, 1_000);
      expect(guard.holdReason(1_049)).toBe('no-growth');
      expect(guard.holdReason(1_050)).toBeNull();
      guard.noteCut(1_030, 1_000);
      expect(guard.holdReason(1_019)).toBe('no-growth');
      expect(guard.holdReason(1_020)).toBeNull();
    });

    it('never requires more growth than from what is left', () => {
      const { guard } = timedGuard();
      guard.noteEnd(1_100, false);
      guard.noteCut(500, 450);
      expect(guard.holdReason(499)).toBe('no-growth');
      expect(guard.holdReason(500)).toBeNull();
    });
  });

  describe('after failures', () => {
    it('pauses after the third in a row, for a minute', () => {
      const { guard, pass } = timedGuard();
      failTimes(guard, 2);
      expect(guard.holdReason(0)).toBeNull();
      failTimes(guard, 1);
      expect(guard.holdReason(1e9)).toBe('cooling-down');
      pass(59_999);
      expect(guard.holdReason(1e9)).toBe('cooling-down');
      pass(1);
      expect(guard.holdReason(0)).toBeNull();
    });

    it('pauses again as soon as the first attempt after a pause fails', () => {
      const { guard, pass } = timedGuard();
      failTimes(guard, 3);
      for (let pause = 0; pause < 3; pause += 1) {
        pass(60_000);
        expect(guard.holdReason(0)).toBeNull();
        failTimes(guard, 1);
        expect(guard.holdReason(0)).toBe('cooling-down');
      }
    });

    it('starts counting again after a success', () => {
      const { guard, pass } = timedGuard();
      failTimes(guard, 3);
      pass(60_000);
      guard.noteEnd(100, true);
      failTimes(guard, 2);
      expect(guard.holdReason(0)).toBeNull();
      failTimes(guard, 1);
      expect(guard.holdReason(0)).toBe('cooling-down');
    });

    it('counts a useless compression as a success', () => {
      const { guard } = timedGuard();
      failTimes(guard, 2);
      guard.noteEnd(100, false);
      failTimes(guard, 2);
      expect(guard.holdReason(150)).toBeNull();
    });

    it('begins the pause at once when a turn has waited for it', () => {
      const { guard, pass } = timedGuard();
      guard.noteFailure(true);
      expect(guard.holdReason(0)).toBe('cooling-down');
      pass(60_000);
      expect(guard.holdReason(0)).toBeNull();
    });

    it('keeps counting failures when a fallback stands in, also in a pause', () => {
      const { guard, pass } = timedGuard();
      failTimes(guard, 2);
      guard.noteEnd(100, true, true);
      failTimes(guard, 1);
      expect(guard.holdReason(0)).toBe('cooling-down');
      guard.noteEnd(100, true);
      pass(60_000);
      failTimes(guard, 1);
      expect(guard.holdReason(0)).toBe('cooling-down');
    });

    it('hands the rest of a pause to a later session', () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      onTestFinished(() => void vi.useRealTimers());
      const { guard } = timedGuard();
      expect(guard.failures).toBeUndefined();
      failTimes(guard, 3);
      const later = (): ProgressGuard => timedGuard(guard.failures).guard;
      vi.advanceTimersByTime(59_999);
      expect(later().holdReason(0)).toBe('cooling-down');
      vi.advanceTimersByTime(1);
      const after = later();
      expect(after.holdReason(0)).toBeNull();
      failTimes(after, 1);
      expect(after.holdReason(0)).toBe('cooling-down');
    });

    it('still requires growth when the pause is over', () => {
      const { guard, pass } = timedGuard();
      guard.noteEnd(900, false);
      failTimes(guard, 3);
      pass(60_000);
      expect(guard.holdReason(949)).toBe('no-growth');
    });
  });

  it('lets few compressions through whatever happens: growth or a pause precedes each', () => {
    const turn = fc.record({
      grownTokens: fc.nat(40),
      passedMs: fc.nat(20_000),
      ends: fc.constantFrom('failed', 'no help', 'no help, then shrunk', 'no help, then cut'),
    });
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 200, size: 'max' }), (turns) => {
        const { guard, pass } = timedGuard();
        let tokens = 1_000;
        let grownTokens = 0;
        let passedMs = 0;
        let ended = 0;
        let failed = 0;
        for (const next of turns) {
          tokens += next.grownTokens;
          grownTokens += next.grownTokens;
          passedMs += next.passedMs;
          pass(next.passedMs);
          if (guard.holdReason(tokens) !== null) continue;
          if (next.ends === 'failed') {
            guard.noteFailure();
            failed += 1;
            continue;
          }
          guard.noteEnd(tokens, false);
          ended += 1;
          if (next.ends === 'no help') continue;
          tokens -= 100;
          if (next.ends === 'no help, then cut') guard.noteCut(tokens + 100, tokens);
          else guard.noteShrunk(tokens);
        }
        expect(ended).toBeLessThanOrEqual(1 + grownTokens / 50);
        // Each end allows two more failures; beyond these, each failure starts a pause.
        expect(failed).toBeLessThanOrEqual(2 * (ended + 1) + 1 + passedMs / 60_000);
      }),
      { numRuns: runs(300) },
    );
  });
});
