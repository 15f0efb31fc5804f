// A cache ages while the machine sleeps, and however the machine's time is set.

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { sessionClock } from '../../../src/main/host/session-clock.js';
import { humanText } from '../../../src/shared/content.js';
import { openCompactor } from '../../support/open-compactor.js';

const MINUTE = 60_000;

function machine(): { awake: (ms: number) => void; asleep: (ms: number) => void } {
  let [steadyMs, dayMs] = [0, 1_800_000_000_000];
  vi.spyOn(performance, 'now').mockImplementation(() => steadyMs);
  vi.spyOn(Date, 'now').mockImplementation(() => dayMs);
  onTestFinished(() => void vi.restoreAllMocks());
  const asleep = (ms: number): void => void (dayMs += ms);
  return { asleep, awake: (ms) => (asleep(ms), void (steadyMs += ms)) };
}

describe('sessionClock', () => {
  it('keeps running while the machine sleeps, and never runs backwards', () => {
    const { awake, asleep } = machine();
    const now = sessionClock();
    awake(10);
    expect(now()).toBe(10);
    asleep(MINUTE);
    expect(now()).toBe(10 + MINUTE);
    asleep(-60 * MINUTE);
    awake(5);
    expect(now()).toBe(15 + MINUTE);
    // Small corrections of the time do not accumulate.
    for (let turns = 0; turns < 100; turns += 1) {
      asleep(turns % 2 === 0 ? 900 : -900);
      now();
    }
    expect(now()).toBe(15 + MINUTE);
  });

  it('is the clock of sessions: a cache is not assumed to outlive a sleep', async () => {
    const { awake, asleep } = machine();
    const compactor = openCompactor();
    const session = await compactor.createSession({ history: [humanText('word '.repeat(9_000))] });
    const readTokens = async (): Promise<number> => {
      const { cacheReadTokens } = session.costs();
      await session.ensureCompressionBeforeSend('p');
      return session.costs().cacheReadTokens - cacheReadTokens;
    };
    await readTokens();
    awake(MINUTE);
    expect(await readTokens()).toBeGreaterThan(0);
    asleep(60 * MINUTE);
    expect(await readTokens()).toBe(0);
  });
});
