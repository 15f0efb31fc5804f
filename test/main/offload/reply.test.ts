// What is accepted as a reply.

import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { readReply } from '../../../src/main/offload/reply.js';
import { humanText } from '../../../src/shared/content.js';
import { DENSITY_RULES } from '../../../src/shared/density/rules/density-rules.js';
import { WorkerPoolError } from '../../../src/shared/errors.js';
import type { CountRequest, OptimizeRequest } from '../../../src/shared/protocol.js';

const OPTIMIZE: OptimizeRequest = {
  kind: 'optimize',
  history: Array.from({ length: 10 }, () => humanText('')),
  config: {
    readWritePruning: true,
    fileDedupe: true,
    recencyPruning: false,
    recencyRetention: 3,
    workspaceRoot: '/w',
  },
};
const COUNT: CountRequest = { kind: 'count', contents: [{ speaker: 'human', blocks: [] }] };

const PLAN = new Int32Array();
/** The counts of no blocks. */
const NONE = new Int32Array();
/** A drop of the first rule, of block 2 of entry 9. */
const ROW = [9, 2, 1, 0, -1, -1];

function ok(value: unknown): object {
  return { ok: true, value, runMs: 1 };
}

function planned(plan: unknown): object {
  return ok({ plan });
}

/** A plan of one row that differs from a good one in a column. */
function row(column: number, value: number): Int32Array {
  return Int32Array.from(ROW.with(column, value));
}

describe('readReply', () => {
  test('returns the value of a good reply', () => {
    const plan = Int32Array.of(0, 1, 5, 1, 2, 3, ...ROW, ...ROW, ...ROW.with(1, 3));
    expect(readReply(OPTIMIZE, planned(plan)).value.plan).toBe(plan);
    const value = { tokens: Int32Array.of(5), blocks: NONE, results: NONE };
    expect(readReply(COUNT, ok(value))).toEqual({ value, runMs: 1 });
  });

  test('accepts arrays of another realm: what arrives in a VM context is of the main realm', () => {
    const array = (numbers: readonly number[]): Int32Array =>
      runInNewContext(`Int32Array.of(${numbers.join()})`) as Int32Array;
    expect(readReply(OPTIMIZE, planned(array(ROW))).value.plan).toHaveLength(ROW.length);
    const count = { tokens: array([5]), blocks: array([]), results: array([]) };
    expect(readReply(COUNT, ok(count)).value.tokens).toHaveLength(1);
  });

  test.each([
    ['null', null],
    ['a text', 'ok'],
    ['no duration', { ok: true, value: { plan: PLAN } }],
    ['neither value nor error', { ok: false, runMs: 1 }],
    ['an error without a message', { ok: false, error: { name: 'Error' }, runMs: 1 }],
    ['a plain array', planned(ROW)],
    ['lists', planned({ drops: PLAN, pointers: PLAN })],
    ['nothing', planned(undefined)],
    ['half a row', planned(Int32Array.from(ROW.slice(0, 3)))],
    ['an entry beyond the history', planned(row(0, 10))],
    ['a negative entry', planned(row(0, -1))],
    ['a negative block', planned(row(1, -1))],
    ['no action', planned(row(2, 0))],
    ['an unknown action', planned(row(2, 8))],
    ['a negative rule', planned(row(3, -1))],
    ['an unknown rule', planned(row(3, DENSITY_RULES.length))],
    ['a cut that ends before it starts', planned(Int32Array.of(9, 2, 5, 1, 8, 7))],
    ['entries that descend', planned(Int32Array.of(...ROW, ...ROW.with(0, 8)))],
    ['blocks that descend', planned(Int32Array.of(...ROW, ...ROW.with(1, 1)))],
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
    expect(() => readReply(COUNT, ok({ tokens, blocks: NONE, results: NONE }))).toThrow(
      WorkerPoolError,
    );
  });

  const [ONE, TWO] = [Int32Array.of(1), Int32Array.of(1, 2)];
  test.each([
    ['too few entries', { tokens: Int32Array.of(), blocks: TWO, results: TWO }],
    ['results of fewer blocks', { tokens: ONE, blocks: TWO, results: ONE }],
    ['a list', { tokens: ONE, blocks: [1, 2], results: TWO }],
  ])('refuses counts by block: %s', (_name, value) => {
    const block = { type: 'text', text: '' } as const;
    const contents = [{ speaker: 'human', blocks: [block, block] }] as const;
    const request = { kind: 'count', contents } as const;
    expect(() => readReply(request, ok(value))).toThrow(WorkerPoolError);
    const right = { tokens: ONE, blocks: TWO, results: TWO };
    expect(readReply(request, ok(right)).value).toEqual(right);
  });

  test('throws the error of a task unchanged', () => {
    const error = { name: 'CtxfoldError', message: 'no', code: 'TOKEN_COUNT_FAILED' };
    const read = (): unknown => readReply(COUNT, { ok: false, error, runMs: 1 });
    expect(read).toThrow(expect.objectContaining({ message: 'no', code: 'TOKEN_COUNT_FAILED' }));
    expect(read).not.toThrow(WorkerPoolError);
  });
});
