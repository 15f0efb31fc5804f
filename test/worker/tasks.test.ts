// The worker's jobs, run in-process: right answers, and replies instead of exceptions.

import { describe, expect, test } from 'vitest';
import { humanText } from '../../src/shared/content.js';
import type { DensityConfig } from '../../src/shared/density.js';
import { planWithTexts } from '../../src/shared/density/plan/optimize.js';
import type { TaskRequest } from '../../src/shared/protocol.js';
import { runTask } from '../../src/worker/tasks.js';

const CONFIG: DensityConfig = {
  readWritePruning: true,
  fileDedupe: true,
  recencyPruning: true,
  recencyRetention: 3,
  workspaceRoot: '/w',
};

/** A request as a hostile or outdated caller might send it. */
function malformed(request: unknown): TaskRequest {
  return request as TaskRequest;
}

describe('runTask', () => {
  test('plans a pass', async () => {
    const inclusion = humanText('--- a.ts ---\nx\n--- End of content ---');
    const history = [inclusion, inclusion];
    expect(await runTask({ kind: 'optimize', history, config: CONFIG })).toEqual({
      ok: true,
      value: { plan: planWithTexts(history, CONFIG).plan },
      runMs: expect.any(Number),
    });
  });

  test('counts each entry', async () => {
    const contents = [humanText('one two'), humanText('')];
    expect(await runTask({ kind: 'count', contents })).toMatchObject({
      ok: true,
      value: { tokens: Int32Array.of(5, 3) },
    });
  });

  test('answers a probe with its thread', async () => {
    expect(await runTask({ kind: 'probe' }, 4)).toMatchObject({ ok: true, value: { threadId: 4 } });
  });

  test.each([
    ['an unknown kind', { kind: 'dance' }],
    ['nothing', undefined],
    ['invalid contents', { kind: 'count', contents: [null] }],
    ['an invalid history', { kind: 'optimize', history: 3, config: CONFIG }],
  ])('replies with an error to %s', async (_name, request) => {
    expect(await runTask(malformed(request))).toEqual({
      ok: false,
      error: expect.objectContaining({ name: 'TypeError', message: expect.any(String) }),
      runMs: expect.any(Number),
    });
  });

  test('replies can be cloned', async () => {
    const replies = [await runTask({ kind: 'probe' }), await runTask(malformed(null))];
    expect(structuredClone(replies)).toEqual(replies);
  });
});
