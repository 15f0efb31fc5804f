// Explanations of entries, compared with the replay that they describe.

import { describe, expect, it } from 'vitest';
import { aiContent, humanText } from '../../../src/index.js';
import type { IContent } from '../../../src/index.js';
import { explainEntry } from '../../../src/cli/analyze/run-explain.js';
import { replaySession } from '../../../src/cli/replay/replay-session.js';
import { longSession, record, step, transcriptOf } from '../../support/report-documents.js';

const LONG = 'one line of a long file\n'.repeat(200);

describe('explainEntry', () => {
  it('names the model call before which an entry was removed, and the rule, as the replay recorded them', async () => {
    const entries = longSession(30);
    const recording = await record(entries, { recency: 2 });
    const removals = recording.rows.filter(({ before }) =>
      before.some(({ speaker }) => speaker === 'tool'),
    );
    expect(removals.length).toBeGreaterThan(0);
    for (const { rule, callId, turn } of removals) {
      const index = entries.findIndex(({ blocks }) =>
        blocks.some((block) => block.type === 'tool_response' && block.callId === callId),
      );
      const explained = explainEntry(recording, index);
      expect(explained?.explanation.index).toBe(index);
      // The newest of several edits of one entry is reported.
      const newest = removals.findLast((each) => each.callId === callId);
      if (newest?.turn !== turn || newest.rule !== rule) continue;
      const { length } = recording.report.modelCalls;
      expect(explained?.landed?.modelCall).toBe(turn < length ? turn + 1 : null);
      expect(explained?.explanation.blocks[0]?.rule).toBe(rule);
    }
  });

  it('explains entries that were removed at no cost as removed, not as waiting for an edit', async () => {
    // Before a long result there is too little to be worth an edit while the prompt cache is warm.
    const runs = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) =>
        step(`b${from + at}`, 'Bash', { command: `ls ${from + at}` }, `${at} `.repeat(600)),
      ).flat();
    const said = [
      ...[humanText('look'), ...runs(0, 6)],
      ...step('r', 'Read', { file_path: '/w/a.ts' }, LONG.repeat(20)),
      ...[...runs(6, 4), aiContent('so'), humanText('go on'), aiContent('finished')],
    ];
    const entries = said.map((entry, at): IContent => {
      const pauseMs = at < said.length - 2 ? 0 : 7_200_000;
      const timestamp = Date.UTC(2026, 0, 31) + at * 1_000 + pauseMs;
      return { ...entry, metadata: { timestamp, model: 'claude-opus-5-5' } };
    });
    const recording = await record(entries, { session: { density: { shrink: 'off' } } });
    const reasons = recording.rows.map(({ cause }) => cause.step === 'pruned' && cause.reason);
    expect(new Set(reasons)).toEqual(new Set(['cache-cold']));
    expect(recording.landed.size).toBeGreaterThan(5);
    for (const index of recording.landed.keys()) {
      expect(explainEntry(recording, index)?.explanation.verdict).toBe('changed');
    }
  });

  it('names indexes of the transcript, however much was removed before', async () => {
    const entries = [
      humanText('fix'),
      ...step('1', 'Read', { file_path: '/w/a.ts' }, LONG),
      ...step('2', 'Write', { file_path: '/w/a.ts' }, 'done'),
      ...step('3', 'Read', { file_path: '/w/b.ts' }, LONG),
      ...step('4', 'Write', { file_path: '/w/b.ts' }, 'done'),
      aiContent('finished'),
    ];
    const recording = await record(entries);
    const explained = explainEntry(recording, 6);
    expect(explained).toMatchObject({
      explanation: {
        index: 6,
        verdict: 'removed',
        blocks: [{ rule: 'read-write', partner: { entry: 5 }, by: { entry: 7, callId: '4' } }],
      },
      landed: { modelCall: 5, step: 'pruned' },
    });
    expect(explainEntry(recording, 8)).toMatchObject({
      explanation: { index: 8, verdict: 'kept', blocks: [{ partner: { entry: 7 } }] },
      landed: null,
    });
  });

  it('does not explain an entry by entries of another context', async () => {
    const entries = [
      ...step('1', 'Read', { file_path: '/w/a.ts' }, LONG),
      ...step('2', 'Read', { file_path: '/w/a.ts' }, LONG),
      ...step('3', 'Write', { file_path: '/w/a.ts' }, 'done'),
      aiContent('finished'),
    ];
    const recording = await replaySession(
      'f',
      { ...transcriptOf(entries), contextStarts: [2] },
      {
        ...{ offload: 'inline', strategy: 'high-density', explains: true },
        session: { edits: 'every-turn' },
      },
    );
    const verdictOf = (index: number) => explainEntry(recording, index)?.explanation.verdict;
    expect([0, 1, 2, 3].map(verdictOf)).toEqual(['kept', 'kept', 'removed', 'removed']);
  });

  it('explains entries that a compression removed, and not those behind the end of the replay', async () => {
    const entries = Array.from({ length: 12 }, () => [humanText(LONG), aiContent('so')]).flat();
    const recording = await record(entries, { contextLimit: 5_000 });
    const steps = entries.map((_, index) => explainEntry(recording, index)?.landed?.step);
    expect(steps).toContain('compressed');
    expect(explainEntry(recording, entries.length)).toBeNull();
  });
});
