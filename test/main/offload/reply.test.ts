// What is taken for a reply and what is not.

import { describe, expect, test } from 'vitest';
import { readReply } from '../../../src/main/offload/reply.js';
import { WorkerPoolError } from '../../../src/shared/errors.js';
import type { CountRequest, OptimizeRequest } from '../../../src/shared/protocol.js';

const OPTIMIZE: OptimizeRequest = {
  kind: 'optimize',
  base: { revision: 3, length: 10 },
  history: [],
  config: {
    readWritePruning: true,
    fileDedupe: true,
    recencyPruning: false,
    recencyRetention: 3,
    workspaceRoot: '/w',
  },
};
const COUNT: CountRequest = { kind: 'count', contents: [{ speaker: 'human', blocks: [] }] };

const NONE = new Int32Array();
const METADATA = { readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 };
const PLAN = { drops: NONE, pointers: NONE, excerpts: NONE, cuts: NONE, metadata: METADATA };

function ok(value: unknown): object {
  return { ok: true, value, runMs: 1 };
}

function planned(change: object, base: object = OPTIMIZE.base): object {
  return ok({ base, plan: { ...PLAN, ...change } });
}

describe('readReply', () => {
  test('returns the value of a good reply', () => {
    const reply = planned({ drops: Int32Array.of(9, 0), cuts: Int32Array.of(0, 1, 2, 3) });
    expect(readReply(OPTIMIZE, reply).value.plan.drops).toEqual(Int32Array.of(9, 0));
    expect(readReply(COUNT, ok({ tokens: Int32Array.of(5) }))).toEqual({
      value: { tokens: Int32Array.of(5) },
      runMs: 1,
    });
  });

  test.each([
    ['null', null],
    ['a text', 'ok'],
    ['no duration', { ok: true, value: { base: OPTIMIZE.base, plan: PLAN } }],
    ['neither value nor error', { ok: false, runMs: 1 }],
    ['an error without a message', { ok: false, error: { name: 'Error' }, runMs: 1 }],
    ['another revision', planned({}, { revision: 4, length: 10 })],
    ['another length', planned({}, { revision: 3, length: 11 })],
    ['a plain array', planned({ drops: [1, 0] })],
    ['half a row', planned({ drops: Int32Array.of(1) })],
    ['an entry beyond the base', planned({ pointers: Int32Array.of(10, 0) })],
    ['an excerpt beyond the base', planned({ excerpts: Int32Array.of(10, 0) })],
    ['excerpts that are none', planned({ excerpts: undefined })],
    ['half an excerpt', planned({ excerpts: Int32Array.of(0) })],
    [
      'a count of the working set that is none',
      planned({ metadata: { ...METADATA, workingSetPruned: 0.5 } }),
    ],
    ['a negative entry', planned({ cuts: Int32Array.of(-1, 0, 0, 1) })],
    ['no metadata', planned({ metadata: null })],
    ['metadata without numbers', planned({ metadata: { ...METADATA, recencyPruned: '0' } })],
  ])('refuses a plan with %s', (_name, reply) => {
    const read = (): unknown => readReply(OPTIMIZE, reply);
    expect(read).toThrow(WorkerPoolError);
    expect(read).toThrow(expect.objectContaining({ code: 'WORKER_INVALID_RESULT' }));
  });

  test.each([
    ['too few', Int32Array.of()],
    ['too many', Int32Array.of(1, 2)],
    ['negative ones', Int32Array.of(-1)],
    ['a plain array', [1]],
  ])('refuses counts: %s', (_name, tokens) => {
    expect(() => readReply(COUNT, ok({ tokens }))).toThrow(WorkerPoolError);
  });

  test('throws the error of a task as it was', () => {
    const error = { name: 'CompressionStrategyError', message: 'no', code: 'TOKEN_COUNT_FAILED' };
    const read = (): unknown => readReply(COUNT, { ok: false, error, runMs: 1 });
    expect(read).toThrow(expect.objectContaining({ message: 'no', code: 'TOKEN_COUNT_FAILED' }));
    expect(read).not.toThrow(WorkerPoolError);
  });
});
