// The cost of a snapshot: posting it, which blocks the main thread, and the round trip through the real pool.

import { isDeepStrictEqual } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import { OffloadMeter } from '../src/main/offload/offload-meter.js';
import { SnapshotOffload } from '../src/main/offload/snapshot.js';
import { WorkerPool } from '../src/main/offload/worker-pool.js';
import { planWithTexts } from '../src/shared/density/plan/optimize.js';
import { check } from './support/check.js';
import { timeThread } from './support/main-thread.js';
import type { Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { CONFIG, historyOf, runsFor } from './support/sessions.js';
import { median, medianMs } from './support/timing.js';

export async function measureTransfer({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  const pool = new WorkerPool({ threads: 1, taskTimeoutMs: 60_000, maxHeapMb: 4_096 });
  const onFallback = ({ error }: { readonly error: Error }): void => {
    throw error;
  };
  const meter = new OffloadMeter('', onFallback);
  const offload = new SnapshotOffload(pool, meter);
  try {
    for (const entries of sizes) {
      const history = historyOf(entries);
      const expected = planWithTexts(history, CONFIG).plan;
      const add = (name: string, value: number, runs: number): void => {
        measurements.push({ scope: 'transfer', name, entries, value, unit: 'ms', runs });
      };

      const posts = runsFor(entries, 15);
      // One channel per post: unread messages would pile up in a shared one.
      const prepare = (): MessageChannel => new MessageChannel();
      const post = medianMs({ runs: posts, prepare }, ({ port1 }) => {
        port1.postMessage(history);
        port1.close();
      });
      add('post of a snapshot', post, posts);

      const runs = runsFor(entries, 10);
      const busy: number[] = [];
      const wall: number[] = [];
      for (let run = 0; run <= runs; run += 1) {
        const base = { revision: run, length: history.length };
        const { busyMs, wallMs } = await timeThread(async () => {
          const { plan } = await offload.optimize(history, base, CONFIG);
          check(isDeepStrictEqual(plan, expected), 'the plan of the worker differs');
        });
        if (run === 0) continue;
        busy.push(busyMs);
        wall.push(wallMs);
      }
      add('snapshot round trip, busy', median(busy), runs);
      add('snapshot round trip, wall', median(wall), runs);
    }
    check(meter.stats.failures === 0, 'a task failed');
  } finally {
    await pool.close();
  }
  return { measurements, goals: [] };
}
