// Traces read as sessions: their tokens, calls, gaps and needs.

import { describe, expect, it } from 'vitest';
import { DEFAULT_WORKING_SET } from '../../../src/density.js';
import { measure } from '../../../bench/fidelity/measure.js';
import { KEEP_ALL, workingSet } from '../../../bench/fidelity/policies.js';
import { readTrace } from '../../../bench/fidelity/trace.js';

/** A user, a search, a read of a range, an edit. */
const TRACE = {
  format: 'pi',
  contexts: [
    {
      gapsMs: [0, 1_000, 400_000, 500],
      items: [
        { kind: 'user', tokens: 100, firstCall: 0 },
        { kind: 'call', tokens: 40, firstCall: 1, tool: 'shell-search', files: [1, 2] },
        { kind: 'result', tokens: 900, firstCall: 1, tool: 'shell-search', answers: 1 },
        { kind: 'thinking', tokens: 30, firstCall: 2 },
        { kind: 'call', tokens: 30, firstCall: 2, tool: 'read', files: [7], lines: [5, 20] },
        { kind: 'result', tokens: 2_000, firstCall: 2, tool: 'read', answers: 4, files: [7] },
        { kind: 'call', tokens: 200, firstCall: 3, tool: 'write', files: [7] },
        { kind: 'result', tokens: 20, firstCall: 3, tool: 'write', answers: 6, failed: true },
        { kind: 'text', tokens: 10, firstCall: 4 },
      ],
      needs: [
        { call: 1, type: 'id-other', weight: 2.5, anyOf: [[2]] },
        { call: 2, type: 'edit', weight: 1, anyOf: [[5], [2, 5]] },
        { call: 3, type: 'quote', weight: 1, anyOf: [[2]] },
      ],
    },
    { gapsMs: [0], items: [{ kind: 'summary', tokens: 50, firstCall: 0 }], needs: [] },
  ],
};
const sessions = readTrace('made.json', JSON.stringify(TRACE))!;
const [first, second] = sessions;

describe('readTrace', () => {
  it('returns a session for each context, of one source and format', () => {
    expect(sessions.map(({ source, format }) => [source, format])).toEqual([
      ['made.json', 'pi'],
      ['made.json', 'pi'],
    ]);
    expect(second?.transcript.entries[0]?.metadata?.isSummary).toBe(true);
  });

  it('sends each item from its first call on, with about its tokens', () => {
    const { modelCalls, tokens } = measure(first!, KEEP_ALL);
    const sent = [100, 100 + 940, 100 + 940 + 2_060, 100 + 940 + 2_060 + 220];
    const total = sent.reduce((sum, each) => sum + each);
    expect(modelCalls).toBe(4);
    expect(tokens).toBeGreaterThan(total);
    // The overhead of entries and blocks is added.
    expect(tokens).toBeLessThan(total + 4 * 9 * 12);
  });

  it('names files and ranges in a form that the pruner recognizes', () => {
    const calls = first!.transcript.entries
      .flatMap(({ blocks }) => blocks)
      .flatMap((block) => (block.type === 'tool_call' ? [[block.name, block.parameters]] : []));
    expect(calls).toMatchObject([
      ['Bash', { command: 'grep pattern1 file1.ts file2.ts' }],
      ['Read', { file_path: 'file7.ts', offset: 5, limit: 16 }],
      ['Edit', { file_path: 'file7.ts' }],
    ]);
  });

  it('has the gaps of the trace', () => {
    expect(first!.gapsMs).toEqual([0, 1_000, 400_000, 500]);
    const { coldTokens, warmTokens } = measure(first!, KEEP_ALL);
    expect(coldTokens).toBeGreaterThan(1_000);
    expect(warmTokens).toBeGreaterThan(3_000);
  });

  it('has the needs of the trace, by a matching kind of call, and the words of its users', () => {
    const needs = [...first!.needsOf.values()].flat();
    expect(needs.map(({ kind, weight, shownBy }) => [kind, weight, shownBy.length])).toEqual([
      ['id-read', 2.5, 1],
      ['edit', 1, 2],
      ['quote', 1, 1],
      ['words', 1, 1],
    ]);
    const figures = measure(first!, KEEP_ALL);
    expect(figures.needs['id-read']).toEqual({ inView: 2.5, recoverable: 0, lost: 0 });
    expect(figures.needs.edit).toEqual({ inView: 1, recoverable: 0, lost: 0 });
  });

  it('treats dropped items as not visible, and recoverable by their call', () => {
    const rules = { ...DEFAULT_WORKING_SET, searchCalls: 0, freeTokens: 0, paybackCalls: Infinity };
    const { needs } = measure(first!, workingSet('without searches', rules));
    expect(needs.quote).toEqual({ inView: 0, recoverable: 1, lost: 0 });
    expect(needs.edit.inView).toBe(1);
  });

  it('returns nothing for other files', () => {
    for (const text of ['', '{', '[]', '{"format":"pi"}', '{"format":"pi","contexts":[{}]}']) {
      expect(readTrace('made.json', text)).toBeUndefined();
    }
  });
});
