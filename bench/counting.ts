// Counting tokens: a whole history in the pool, only the new entries after a turn, hostile text, and the counters from the
// registry.

import { HistoryService } from '../src/index.js';
import type { IContent } from '../src/index.js';
import { InlineOffload } from '../src/main/offload/inline.js';
import { OffloadMeter } from '../src/main/offload/offload-meter.js';
import { SnapshotOffload } from '../src/main/offload/snapshot.js';
import { WorkerPool } from '../src/main/offload/worker-pool.js';
import { check } from './support/check.js';
import { raceCounters } from './support/counter-race.js';
import { measureHostile } from './support/hostile-counting.js';
import { timeThread } from './support/main-thread.js';
import { valueOf } from './support/measurement.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { followingOf, historyOf, megabytesOf } from './support/sessions.js';
import { median } from './support/timing.js';

const ENTRIES_PER_TURN = 5;
const TURNS = 40;
/** One entry in this many is also counted inline. */
const CHECKED = 97;
const TURN_BUSY = 'count after a turn of 5, busy';

export async function measureCounting({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  let mostCounted = 0;
  const pool = new WorkerPool({ taskTimeoutMs: 60_000 });
  const meter = new OffloadMeter();
  const offload = new SnapshotOffload(pool, meter);
  try {
    await offload.countTokens(historyOf(sizes[0] ?? 1).slice(0, 1));
    for (const entries of sizes) {
      const add = (name: string, value: number, unit: 'ms' | 'MB/s', runs: number): void => {
        measurements.push({ scope: 'counting', name, entries, value, unit, runs });
      };
      const asked: number[] = [];
      const history = new HistoryService({
        countEntries: (contents) => {
          asked.push(contents.length);
          return offload.countTokens(contents);
        },
      });
      const whole = historyOf(entries);
      const { wallMs, busyMs } = await timeThread(async () => {
        for (let start = 0; start < whole.length; start += 256) {
          history.addAll(whole.slice(start, start + 256));
        }
        await history.waitForTokenUpdates();
      });
      add('count a whole history, wall', wallMs, 'ms', 1);
      add('count a whole history, busy', busyMs, 'ms', 1);
      add('count a whole history, speed', megabytesOf(whole) / (wallMs / 1_000), 'MB/s', 1);
      check(sum(asked) === entries, 'some entries were not counted exactly once');

      asked.length = 0;
      const busy: number[] = [];
      const wall: number[] = [];
      const following = followingOf(entries);
      for (let turn = 0; turn < TURNS; turn += 1) {
        const added = following.slice(turn * ENTRIES_PER_TURN, (turn + 1) * ENTRIES_PER_TURN);
        const time = await timeThread(async () => {
          history.addAll(added);
          await history.waitForTokenUpdates();
        });
        busy.push(time.busyMs);
        wall.push(time.wallMs);
      }
      add(TURN_BUSY, median(busy), 'ms', TURNS);
      add('count after a turn of 5, wall', median(wall), 'ms', TURNS);
      mostCounted = Math.max(mostCounted, ...asked);
      check(sum(asked) === TURNS * ENTRIES_PER_TURN, 'more than new entries were counted');
      await checkTotals(history);
    }
    check(meter.stats.failures === 0, 'a task failed');
  } finally {
    await pool.close();
  }
  const hostile = measureHostile(sizes[0] ?? 1);
  const raced = raceCounters(sizes[0] ?? 1);
  return {
    measurements: [...measurements, ...hostile.measurements, ...raced.measurements],
    goals: [...goalsOf(measurements, sizes, mostCounted), ...hostile.goals, ...raced.goals],
  };
}

function goalsOf(
  measurements: readonly Measurement[],
  sizes: readonly number[],
  mostCounted: number,
): readonly Goal[] {
  const least = valueOf(measurements, TURN_BUSY, sizes[0] ?? 0) ?? NaN;
  const most = valueOf(measurements, TURN_BUSY, sizes.at(-1) ?? 0) ?? NaN;
  return [
    { name: 'entries counted after a turn of 5', value: mostCounted, limit: ENTRIES_PER_TURN },
    { name: `${TURN_BUSY}, largest history for smallest`, value: most / least, limit: 2 },
  ];
}

/** Checks that the total is the sum of the entries' counts, and that a sample counts the same inline. */
async function checkTotals(history: HistoryService): Promise<void> {
  const entries = history.getAll();
  const counts = await history.countEach(entries);
  check(sum(counts) === history.getTotalTokens(), 'the total is not the sum');
  const isSampled = (_: unknown, at: number): boolean => at % CHECKED === 0;
  const sample: IContent[] = entries.filter(isSampled);
  const inline = await new InlineOffload().countTokens(sample);
  const same = counts.filter(isSampled).every((count, at) => count === inline[at]);
  check(same, 'the worker counts differently');
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
