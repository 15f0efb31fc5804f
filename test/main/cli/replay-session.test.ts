// Replays of small made-up sessions, on the calling thread.

import { describe, expect, test } from 'vitest';
import {
  agentPreset,
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/index.js';
import type { IContent, Transcript } from '../../../src/index.js';
import { toJsonReport } from '../../../src/main/cli/replay-report.js';
import { replaySession } from '../../../src/main/cli/replay-session.js';
import type { ReplayOptions } from '../../../src/main/cli/replay-session.js';

const OPTIONS: ReplayOptions = {
  contextLimit: 200_000,
  offload: 'inline',
  strategy: 'high-density',
};

function transcript(entries: readonly IContent[]): Transcript {
  const format = 'claude-code';
  return { format, workspaceRoot: '/w', entries, warnings: [], preset: agentPreset(format) };
}

/** A call and its response. */
function step(id: string, tool: string, parameters: object, result: string): IContent[] {
  return [
    aiContent([toolCall(id, tool, parameters)]),
    toolContent([toolResponse(id, tool, result)]),
  ];
}

const LONG = 'one line of a long file\n'.repeat(200);

const READ_THEN_WRITE = [
  humanText('fix it'),
  ...step('1', 'Read', { file_path: 'a.ts' }, LONG),
  ...step('2', 'Edit', { file_path: '/w/a.ts' }, 'done'),
  aiContent('finished'),
];

describe('replaySession', () => {
  test('an untouched history costs the same with and without', async () => {
    const entries = [humanText('hello'), aiContent('hi'), humanText('bye'), aiContent('see you')];
    const report = await replaySession('f', transcript(entries), OPTIONS);
    expect(report.modelCalls.map(({ entry }) => entry)).toEqual([1, 3]);
    for (const { tokens } of [...report.modelCalls, report.end]) {
      expect(tokens.with).toBe(tokens.without);
    }
    expect(report.reclaimed).toEqual([]);
    expect(report.playedEntries).toBe(4);
  });

  test('a superseded read is reclaimed before the next model call', async () => {
    const report = await replaySession('f', transcript(READ_THEN_WRITE), OPTIONS);
    const { without, with: left } = report.end.tokens;
    expect(report.modelCalls.map(({ edits }) => edits.length)).toEqual([0, 0, 1]);
    expect(report.reclaimed).toEqual([
      { rule: 'superseded-read', items: 1, tokens: without - left },
    ]);
    expect(report.largest).toMatchObject([
      { rule: 'superseded-read', tool: 'Read', path: 'a.ts', modelCall: 3, tokens: without - left },
    ]);
    expect(without - left).toBeGreaterThan(1_000);
    expect(report.input.without - report.input.with).toBe(without - left);
  });

  test('recency pruning takes what is older than the newest results', async () => {
    const entries = [
      humanText('look'),
      ...step('1', 'Bash', { command: 'cat secret' }, LONG),
      ...step('2', 'Bash', { command: 'ls' }, LONG),
    ];
    const report = await replaySession('f', transcript(entries), {
      ...OPTIONS,
      recencyRetention: 1,
    });
    expect(report.reclaimed).toMatchObject([{ rule: 'old-result', items: 1 }]);
    expect(report.largest).toMatchObject([
      { parameter: 'cat secret', path: null, modelCall: null },
    ]);
    expect(JSON.stringify(toJsonReport(report))).not.toContain('secret');
  });

  test('a compression is attributed, and its tokens add up', async () => {
    const entries = [
      humanText('look'),
      ...Array.from({ length: 8 }, (_, at) =>
        step(`${at}`, 'Bash', { command: `cat ${at}` }, LONG),
      ).flat(),
    ];
    const report = await replaySession('f', transcript(entries), {
      ...OPTIONS,
      contextLimit: 6_000,
    });
    const windows = [...report.modelCalls, report.end];
    expect(windows.flatMap(({ compressions }) => compressions)).toContain('applied');
    expect(windows.every(({ tokens }) => tokens.with <= 6_000)).toBe(true);
    const sum = report.reclaimed.reduce((tokens, total) => tokens + total.tokens, 0);
    expect(sum).toBe(report.end.tokens.without - report.end.tokens.with);
    expect(report.firstCallOverLimit).not.toBeNull();
  });

  test('a session that cannot fit stops, and reports what was reached', async () => {
    const entries = [
      humanText('hi'),
      aiContent('hello'),
      humanText(LONG.repeat(2)),
      aiContent('oh'),
    ];
    const report = await replaySession('f', transcript(entries), { ...OPTIONS, contextLimit: 500 });
    expect(report.exceeded).toMatchObject({ contextLimit: 500 });
    expect(report).toMatchObject({ entries: 4, playedEntries: 3 });
    expect(report.modelCalls).toHaveLength(1);
    expect(report.end.tokens.without).toBeGreaterThan(500);
  });

  test('an empty transcript gives a report', async () => {
    const report = await replaySession('f', transcript([]), OPTIONS);
    expect(report).toMatchObject({ entries: 0, modelCalls: [], reclaimed: [] });
    expect(report.end.tokens).toEqual({ without: 0, with: 0 });
  });

  test('aborting rejects with the reason', async () => {
    const reason = new Error('enough');
    const abortion = new AbortController();
    const replayed = replaySession('f', transcript(READ_THEN_WRITE), {
      ...OPTIONS,
      signal: abortion.signal,
      onProgress: (playedEntries) => {
        if (playedEntries === 2) abortion.abort(reason);
      },
    });
    await expect(replayed).rejects.toBe(reason);
  });
});
