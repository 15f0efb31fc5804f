// Which way the automatic choice goes.

import { describe, expect, test } from 'vitest';
import { AutoOffload } from '../../../src/main/offload/auto.js';
import { SnapshotOffload } from '../../../src/main/offload/snapshot.js';
import { humanText } from '../../../src/shared/content.js';
import { openPool, workerUrl } from '../../support/faulty-pool.js';

const CONFIG = {
  readWritePruning: true,
  fileDedupe: true,
  recencyPruning: false,
  recencyRetention: 3,
  workspaceRoot: '/w',
};
const HISTORY = [humanText('one'), humanText('two'), humanText('three')];

function auto(options: { readonly maxInlineEntries?: number } = {}): AutoOffload {
  const pool = openPool({}, { workerUrl: workerUrl('flaky.mjs') });
  return new AutoOffload(new SnapshotOffload(pool), options);
}

describe('AutoOffload', () => {
  test('plans inline up to its limit and on the pool beyond', async () => {
    const offload = auto({ maxInlineEntries: 2 });
    await offload.optimize(HISTORY, { revision: 1, length: 2 }, CONFIG);
    expect(offload.stats).toMatchObject({ inlineTasks: 1, workerTasks: 0 });
    await offload.optimize(HISTORY, { revision: 1, length: 3 }, CONFIG);
    expect(offload.stats).toMatchObject({ inlineTasks: 1, workerTasks: 1 });
  });

  test('plans inline at any size unless told otherwise', async () => {
    const offload = auto();
    await offload.optimize(HISTORY, { revision: 1, length: 3 }, CONFIG);
    expect(offload.stats).toMatchObject({ inlineTasks: 1, workerTasks: 0 });
  });

  test('counts on the pool', async () => {
    const offload = auto();
    expect(await offload.countTokens(HISTORY)).toEqual([3, 3, 5]);
    expect(offload.stats).toMatchObject({ inlineTasks: 0, workerTasks: 1 });
  });
});
