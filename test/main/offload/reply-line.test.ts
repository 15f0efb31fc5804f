// What is accepted as a reply to a delta.

import { describe, expect, it } from 'vitest';
import { readDeltaReply } from '../../../src/main/offload/reply.js';
import type { HistoryDelta } from '../../../src/shared/resident-protocol.js';

const DELTA: HistoryDelta = {
  sequence: 1,
  before: { revision: 3, length: 0 },
  after: { revision: 3, length: 2 },
  steps: [
    {
      kind: 'stage',
      contents: [
        { speaker: 'human', blocks: [] },
        { speaker: 'ai', blocks: [] },
      ],
      knownTokens: Int32Array.of(-1, -1),
    },
  ],
};

function answer(change: object): object {
  const value = { base: DELTA.after, tokens: Int32Array.of(4, 0), ...change };
  return { ok: true, value, runMs: 1 };
}

describe('readDeltaReply', () => {
  it('returns the value of a good reply', () => {
    expect(readDeltaReply(DELTA, true, answer({})).value.tokens).toEqual(Int32Array.of(4, 0));
  });

  it('accepts a reply without counts only where nothing is counted', () => {
    const reply = answer({ tokens: Int32Array.of(-1, -1) });
    expect(readDeltaReply(DELTA, false, reply).value.tokens).toEqual(Int32Array.of(-1, -1));
    expect(() => readDeltaReply(DELTA, true, reply)).toThrow('a negative count');
  });

  it.each([
    ['nothing', undefined],
    ['no envelope', { ok: true, value: {} }],
    ['no value', { ok: true, value: null, runMs: 0 }],
    ['a negative duration', { ...answer({}), runMs: -1 }],
    ['a count too few', answer({ tokens: Int32Array.of(4) })],
    ['counts that are not integers', answer({ tokens: [4, 0] })],
    ['a negative count', answer({ tokens: Int32Array.of(4, -7) })],
    ['another state', answer({ base: { revision: 3, length: 1 } })],
    ['a pass that was not asked for', answer({ pass: {} })],
  ])('refuses %s', (_, reply) => {
    expect(() => readDeltaReply(DELTA, true, reply)).toThrow(
      expect.objectContaining({ code: 'WORKER_INVALID_RESULT' }),
    );
  });

  const PASS = {
    base: DELTA.after,
    plan: Int32Array.of(),
    tokensAfter: Int32Array.of(1, 0, 5),
    runMs: 1,
  };

  it.each([
    ['a pass missing or unasked', undefined],
    ['no pass', 1],
    ['a plan for another base', { ...PASS, base: { revision: 4, length: 2 } }],
    ['no plan', { ...PASS, plan: [] }],
    ['tokens of no entry', { ...PASS, tokensAfter: Int32Array.of(1, 0) }],
    ['tokens of no entry', { ...PASS, tokensAfter: Int32Array.of(2, 0, 5) }],
    ['no duration', { ...PASS, runMs: NaN }],
  ])('refuses a reply with %s', (problem, pass) => {
    const asking = { ...DELTA, pass: {} as never };
    expect(readDeltaReply(asking, true, answer({ pass: PASS })).value.pass).toBe(PASS);
    expect(() => readDeltaReply(asking, true, answer({ pass }))).toThrow(problem);
  });

  const ASKING = { ...DELTA, compression: { preserveThreshold: 0.2, targetTokens: 100 } };
  const COMPRESSION = {
    length: 4,
    drops: Int32Array.of(0, 1),
    summarized: Int32Array.of(2, 0, 3, 1),
    lines: ['one', 'other'],
    tokensAfter: Int32Array.of(2, 7, 3, 8),
  };

  it('returns the plan of a compression, or null', () => {
    for (const compression of [COMPRESSION, null]) {
      const { value } = readDeltaReply(ASKING, true, answer({ compression }));
      expect(value.compression).toEqual(compression);
    }
  });

  it('refuses a compression that was not asked for', () => {
    const reply = answer({ compression: COMPRESSION });
    expect(() => readDeltaReply(DELTA, true, reply)).toThrow('a compression missing or unasked');
  });

  it.each([
    ['nothing', undefined],
    ['no record', 4],
    ['no length', { ...COMPRESSION, length: undefined }],
    ['a drop beyond the history', { ...COMPRESSION, drops: Int32Array.of(4) }],
    ['half a result', { ...COMPRESSION, summarized: Int32Array.of(2), lines: [] }],
    ['a result of no entry', { ...COMPRESSION, summarized: Int32Array.of(-1, 0, 3, 1) }],
    ['tokens of no entry', { ...COMPRESSION, tokensAfter: Int32Array.of(9, 7) }],
    ['no lines', { ...COMPRESSION, lines: undefined }],
    ['too few lines', { ...COMPRESSION, lines: ['one'] }],
    ['a line that is not a text', { ...COMPRESSION, lines: ['one', 2] }],
  ])('refuses a compression with %s', (_, compression) => {
    expect(() => readDeltaReply(ASKING, true, answer({ compression }))).toThrow(
      expect.objectContaining({ code: 'WORKER_INVALID_RESULT' }),
    );
  });
});
