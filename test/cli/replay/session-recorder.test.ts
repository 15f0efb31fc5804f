// The recorded tokens add up to those of the replay, for every kind of edit.

import { describe, expect, test } from 'vitest';
import type { IContent } from '../../../src/index.js';
import { humanText } from '../../../src/index.js';
import { DEFAULT_WORKING_SET } from '../../../src/density.js';
import { longSession, record, step } from '../../support/report-documents.js';

const LONG = 'one line of a long file\n'.repeat(200);

const STEPS = Array.from({ length: 12 }, (_, at) =>
  step(`${at}`, 'Bash', { command: `cat ${at}` }, LONG),
).flat();

/** A working set that removes nothing, however large results are. */
const TAKES_NOTHING = { workingSet: { ...DEFAULT_WORKING_SET, freeTokens: Infinity } };

describe('SessionRecorder', () => {
  test.each([
    ['pruned', longSession(40), { recency: 2 }],
    ['compressed', [humanText('look'), ...STEPS], { ...TAKES_NOTHING, contextLimit: 6_000 }],
    [
      'fitted',
      [humanText('look'), ...step('x', 'Bash', {}, LONG.repeat(3))],
      { contextLimit: 2_000, threshold: 1 },
    ],
  ] as const)('the tokens of a history that is %s add up', async (kind, entries, options) => {
    const { report: replay, turns, rows } = await record(entries, options);
    const windows = [...replay.modelCalls, replay.end];
    const sums = turns.map((tokens) => tokens.reduce((sum, count) => sum + count, 0));
    expect(sums).toEqual(windows.map(({ tokens }) => tokens.with));
    const reclaimed = rows.reduce((sum, row) => sum + row.tokensBefore - row.tokensAfter, 0);
    expect(reclaimed).toBe(replay.end.tokens.without - replay.end.tokens.with);
    expect(rows.map(({ cause }) => cause.step)).toContain(kind);
  });

  test('an edit is recorded at the turn before whose call it was applied', async () => {
    const recording = await record(longSession(20));
    const { report: replay } = recording;
    const turns = new Set(recording.rows.map(({ turn }) => turn));
    const edited = [...replay.modelCalls, replay.end].flatMap(({ edits }, at) =>
      edits.length > 0 ? [at] : [],
    );
    expect(edited.length).toBeGreaterThan(0);
    expect([...turns]).toEqual(edited);
  });

  test('a superseded read is removed as a whole', async () => {
    const recording = await record([
      humanText('fix'),
      ...step('r', 'Read', { file_path: '/w/a.ts' }, LONG),
      ...step('w', 'Write', { file_path: '/w/a.ts' }, 'done'),
    ]);
    expect(recording.rows.map(({ tokensAfter }) => tokensAfter)).toEqual([0]);
    expect(recording.rows.map(({ subject }) => subject?.path)).toEqual(['/w/a.ts']);
    const [{ added, remaining }] = recording.contexts;
    const tools = (entries: readonly IContent[]) =>
      entries.flatMap(({ blocks }) =>
        blocks.flatMap((block) => (block.type === 'tool_call' ? block.name : [])),
      );
    expect(tools(added)).toEqual(['Read', 'Write']);
    expect(tools(remaining)).toEqual(['Write']);
  });

  test("every edit of a pass has the session's reason", async () => {
    const recording = await record(longSession(60), {
      recency: 2,
      workingSet: { ...DEFAULT_WORKING_SET, freeTokens: 0, paybackCalls: 99 },
    });
    const reasons = recording.rows.map(({ rule, why }) => `${rule}: ${why?.text}`);
    const count = (rule: string): number =>
      reasons.filter((reason) => reason.startsWith(`${rule}: `)).length;
    expect(count('read-write')).toBeGreaterThan(0);
    expect(count('recency')).toBeGreaterThan(0);
    expect(count('working-set')).toBeGreaterThan(0);
    const known = [
      /^read-write: What was read was written later, last by the Write call /,
      /^recency: The newest 2 results of (?:Read|Write|Bash) are kept, /,
      /^working-set: .* (?:An excerpt|A placeholder) replaces it\.$/,
    ];
    expect(reasons.filter((reason) => !known.some((form) => form.test(reason)))).toEqual([]);
  });

  test('an empty session has only the turn of its end', async () => {
    const { turns, rows, report } = await record([]);
    expect([turns.flat().filter((tokens) => tokens > 0), turns.length]).toEqual([[], 1]);
    expect([rows, report.modelCalls]).toEqual([[], []]);
  });
});
