// Work on the pool: when it is retried, when it runs inline, when an error is passed on.

import { describe, expect, test } from 'vitest';
import { InlineOffload } from '../../../src/main/offload/inline.js';
import { OffloadMeter } from '../../../src/main/offload/offload-meter.js';
import type { FallbackEvent } from '../../../src/main/offload/offload.js';
import { SnapshotOffload } from '../../../src/main/offload/snapshot.js';
import type { WorkerPool } from '../../../src/main/offload/worker-pool.js';
import type { WorkerPoolOptions } from '../../../src/main/offload/worker-pool-options.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import type { DensityConfig } from '../../../src/shared/density.js';
import { PROBE, codeOf, faulty, openPool, workerUrl } from '../../support/faulty-pool.js';

const CONFIG: DensityConfig = {
  readWritePruning: true,
  fileDedupe: true,
  recencyPruning: false,
  recencyRetention: 3,
  workspaceRoot: '/w',
};
const HISTORY = [humanText('one'), humanText('two')];
const BASE = { revision: 5, length: 2 };
/** The plan that the flaky worker makes up; no real pass on `HISTORY` returns it. */
const BY_WORKER = { plan: Int32Array.of(0, 0, 1, 0, -1, -1) };
const INLINE = { plan: new Int32Array() };

interface Bench {
  readonly pool: WorkerPool;
  readonly offload: SnapshotOffload;
  readonly meter: OffloadMeter;
  readonly fallbacks: readonly FallbackEvent[];
}

async function bench(options: WorkerPoolOptions = {}): Promise<Bench> {
  const pool = openPool({ workerUrl: workerUrl('flaky.mjs'), ...options });
  await pool.run(PROBE);
  const fallbacks: FallbackEvent[] = [];
  const onFallback = (event: FallbackEvent): void => void fallbacks.push(event);
  const meter = new OffloadMeter('', onFallback);
  return { pool, offload: new SnapshotOffload(pool, meter), meter, fallbacks };
}

/** A config on which the flaky worker fails `count` times. */
function failing(count: number): DensityConfig {
  const failuresLeft = new Int32Array(new SharedArrayBuffer(4)).fill(count);
  const config = { ...CONFIG, failuresLeft };
  return config;
}

describe('SnapshotOffload', () => {
  test('runs passes on the pool', async () => {
    const { offload, meter, fallbacks } = await bench();
    expect(await offload.optimize(HISTORY, BASE, CONFIG)).toMatchObject(BY_WORKER);
    expect(fallbacks).toEqual([]);
    const passes = { workerTasks: 1, workerMs: 2, residentPasses: 0 };
    expect(meter.stats).toMatchObject({ ...passes, failures: 0 });
  });

  test('tries once more after a failure', async () => {
    const { offload, meter, fallbacks } = await bench();
    expect(await offload.optimize(HISTORY, BASE, failing(1))).toMatchObject(BY_WORKER);
    expect(fallbacks).toEqual([]);
    expect(meter.stats).toMatchObject({ workerTasks: 1, failures: 1, fallbacks: 0 });
  });

  test('runs inline and reports it after two failures', async () => {
    const { offload, meter, fallbacks } = await bench();
    expect(await offload.optimize(HISTORY, BASE, failing(2))).toMatchObject(INLINE);
    expect(fallbacks).toEqual([
      { task: 'optimize', attempts: 2, error: expect.objectContaining({ code: 'WORKER_FAILED' }) },
    ]);
    expect(meter.stats).toMatchObject({ workerTasks: 0, failures: 2, fallbacks: 1 });
  });

  test('runs inline at once when the pool refuses', async () => {
    const { pool, offload, fallbacks } = await bench({ failureThreshold: 1 });
    await codeOf(pool.run(faulty('any', { kind: 'unknown' })));
    expect(await offload.optimize(HISTORY, BASE, CONFIG)).toMatchObject(INLINE);
    expect(fallbacks).toMatchObject([{ attempts: 1, error: { code: 'POOL_UNAVAILABLE' } }]);
  });

  test('runs inline at once what cannot be cloned', async () => {
    const { offload, fallbacks } = await bench();
    const history: IContent[] = [humanText('one', { providerMetadata: () => 0 }), humanText('two')];
    expect(await offload.optimize(history, BASE, CONFIG)).toMatchObject(INLINE);
    expect(fallbacks).toMatchObject([{ attempts: 1, error: { code: 'WORKER_FAILED' } }]);
  });

  test('runs inline what is too large to post, without reporting a fallback', async () => {
    const { offload, meter, fallbacks } = await bench();
    const long = Array.from({ length: 100_001 }, () => humanText('one'));
    const base = { ...BASE, length: long.length };
    expect(await offload.optimize(long, base, CONFIG)).toMatchObject(INLINE);
    expect(fallbacks).toEqual([]);
    expect(meter.stats).toMatchObject({ inlineTasks: 1, fallbacks: 0 });
  });

  test('is not affected by changes of the history meanwhile', async () => {
    const { offload } = await bench();
    const history = [...HISTORY];
    const planning = offload.optimize(history, BASE, failing(2));
    history.length = 0;
    expect(await planning).toMatchObject(INLINE);
  });

  test('rejects when the pool is closed', async () => {
    const { pool, offload } = await bench();
    await pool.close();
    expect(await codeOf(offload.optimize(HISTORY, BASE, CONFIG))).toBe('CLOSED');
  });

  test('counts in batches and in order', async () => {
    const { offload, meter } = await bench({ threads: 2 });
    const contents = Array.from({ length: 1_000 }, (_, at) => humanText('x'.repeat(at)));
    const counts = await offload.countTokens(contents);
    expect(counts).toEqual(Array.from({ length: 1_000 }, (_, at) => at));
    expect(meter.stats.workerTasks).toBe(4);
    expect(await offload.countTokens([])).toEqual([]);
  });

  test('counts inline the one batch that the pool cannot count', async () => {
    const { offload, fallbacks } = await bench();
    const contents = Array.from({ length: 300 }, (_, at) => humanText(at === 299 ? 'fail' : 'xx'));
    const counts = await offload.countTokens(contents);
    const inline = await new InlineOffload().countTokens(contents);
    expect(counts).toEqual([...new Array<number>(256).fill(2), ...inline.slice(256)]);
    expect(fallbacks).toMatchObject([{ task: 'count', attempts: 2 }]);
  });

  test.each(['optimize', 'countTokens'] as const)(
    '%s rejects with the reason of an abort',
    async (method) => {
      const { offload, fallbacks } = await bench();
      const controller = new AbortController();
      const { signal } = controller;
      const running =
        method === 'optimize'
          ? offload.optimize(HISTORY, BASE, CONFIG, signal)
          : offload.countTokens(HISTORY, signal);
      controller.abort('enough');
      await expect(running).rejects.toBe('enough');
      expect(fallbacks).toEqual([]);
    },
  );
});
