// Analyses of recorded, random and small made-up sessions, on the calling thread.

import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aiContent, humanText, toolCall, toolContent, toolResponse } from '../../../src/index.js';
import { readTranscript } from '../../../src/transcripts.js';
import type { IContent } from '../../../src/index.js';
import type { Transcript } from '../../../src/transcripts.js';
import type { WorkingSetRules } from '../../../src/density.js';
import { analyzeRecording } from '../../../src/cli/analyze/analysis.js';
import type { SessionAnalysis } from '../../../src/cli/analyze/analysis-report.js';
import { replaySession } from '../../../src/cli/replay/replay-session.js';
import type { ReplayOptions } from '../../../src/cli/replay/replay-session.js';
import { arbitraryHistory, WORKSPACE_ROOT } from '../../support/arbitrary-history.js';
import { step, transcriptOf } from '../../support/report-documents.js';
import { runs, sample } from '../../support/scale.js';

const FIXTURES = path.resolve('test/fixtures/transcripts');

async function analyze(
  transcript: Transcript,
  options: Partial<ReplayOptions> = {},
): Promise<SessionAnalysis> {
  const play: ReplayOptions = { offload: 'inline', strategy: 'high-density', ...options };
  return analyzeRecording(await replaySession('f', transcript, play));
}

/** Like `analyze`, with edits applied at once by rules of a working set. */
function analyzeBy(
  entries: readonly IContent[],
  workingSet: WorkingSetRules = KEEPS_ALL,
  options: Partial<ReplayOptions> = {},
): Promise<SessionAnalysis> {
  return analyze(transcriptOf(entries), {
    session: { edits: 'every-turn', density: { workingSet, shrink: 'off' } },
    ...options,
  });
}

function sum<Value>(values: readonly Value[], of: (value: Value) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}

function expectSums({ tokens, categories, tools, rules, stays }: SessionAnalysis): void {
  const saved = tokens.without - tokens.with;
  expect(sum(categories, (figures) => figures.tokens)).toBe(tokens.without);
  expect(sum(categories, (figures) => figures.reclaimedTokens)).toBe(saved);
  expect(sum(rules, (report) => report.tokens)).toBe(saved);
  expect(sum(stays, (figures) => figures.tokens)).toBe(tokens.with);
  for (const tool of tools) {
    expect(tool.reclaimedResultTokens).toBeLessThanOrEqual(tool.resultTokens);
    expect(tool.reclaimedCallTokens).toBeLessThanOrEqual(tool.callTokens);
  }
}

/** Keeps every result. */
const KEEPS_ALL: WorkingSetRules = {
  ...{ readCalls: 99, searchCalls: 99, outputCalls: 99, otherCalls: 99 },
  ...{ earlyShare: 1, paybackCalls: Infinity, freeTokens: 0 },
};

const LONG = 'one line of a long file\n'.repeat(200);

const SESSION = [
  humanText('fix it'),
  ...step('1', 'Read', { file_path: 'a.ts' }, LONG),
  ...step('2', 'Write', { file_path: '/w/a.ts' }, 'done'),
  ...step('3', 'Read', { file_path: 'b.ts' }, LONG),
  ...step('4', 'Bash', { command: 'npm test' }, LONG),
  ...step('5', 'Bash', { command: 'npm run lint' }, 'all good'),
  aiContent('finished'),
  aiContent([toolCall('6', 'Bash', { command: 'git push' })]),
];

describe('analyzeRecording', () => {
  const recordings = [
    'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl',
    'codex/jdx-mise__71-b56c467073-0.jsonl',
    'gemini-cli/session-2025-12-30T06-53-7bc58f7d.json',
    'openai-chat/openhands-sampled__python__mypy-15976_0.json',
    'openai-chat/swe-smith__arrow-py__arrow.1d70d009.lm_rewrite__nuzjfyur.json',
    'swe-agent/marshmallow-1867-function-calling.traj',
    'mini-swe-agent/pydata__xarray-7229.traj.json',
    'cline/session.messages.json',
  ];

  test.each(sample(recordings, 2))('gives figures that add up for %s', async (fixture) => {
    const recorded = await readTranscript(path.join(FIXTURES, fixture));
    expectSums(await analyze(recorded));
    expectSums(await analyze(recorded, { recency: 2, contextLimit: 9_000 }));
  });

  test('gives figures that add up for any history', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryHistory({ maxEntries: 60 }),
        fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
        async (history, recencyRetention) => {
          const options = { recency: recencyRetention, session: { edits: 'every-turn' } } as const;
          expectSums(
            await analyze({ ...transcriptOf(history), workspaceRoot: WORKSPACE_ROOT }, options),
          );
        },
      ),
      { numRuns: runs(100) },
    );
  });

  test("does not let a context make results from before the agent's compaction stale", async () => {
    const read = (id: string) => [
      aiContent([toolCall(id, 'Read', { file_path: '/w/a.ts' })]),
      toolContent([toolResponse(id, 'Read', 'a line\n'.repeat(200))]),
    ];
    const write = [
      aiContent([toolCall('w', 'Write', { file_path: '/w/a.ts' })]),
      toolContent([toolResponse('w', 'Write', 'done')]),
    ];
    const entries = [...read('1'), humanText('in short'), ...read('2'), ...write];
    const analyzeWith = (contextStarts: readonly number[]) =>
      analyze(
        { ...transcriptOf(entries), contextStarts },
        { session: { edits: 'every-turn', density: { workingSet: KEEPS_ALL } } },
      );
    const [one, two] = [await analyzeWith([]), await analyzeWith([2])];
    const [former, latter] = [one, two].map(({ tokens }) => tokens.without - tokens.with);
    expect(former).toBe((latter ?? 0) * 2);
    expect(latter).toBeGreaterThan(0);
    // A staying entry is identified by its index in the whole session.
    expect(two.largestStaying[0]?.entry).toBe(1);
    expectSums(two);
  });

  test('names the files of superseded reads', async () => {
    const { rules } = await analyzeBy(SESSION);
    expect(rules[0]).toMatchObject({
      rule: 'read-write',
      items: 1,
      examples: [{ tool: 'Read', path: 'a.ts' }],
    });
  });

  test('gives the start of dropped texts as examples, and none of the summaries that replaced them', async () => {
    const entries = Array.from({ length: 12 }, (_, at) => [
      humanText(`question ${at}: ${LONG}`),
      aiContent('so'),
    ]).flat();
    const { rules } = await analyzeBy(entries, KEEPS_ALL, { contextLimit: 5_000 });
    const { examples = [] } = rules.find(({ rule }) => rule === 'dropped-entry') ?? {};
    expect(examples).toHaveLength(3);
    for (const { excerpt } of examples) expect(excerpt).toMatch(/^question \d+: one line/);
  });

  test('gives the reason why each remaining entry stays', async () => {
    const { stays } = await analyzeBy(SESSION);
    expect(stays.map(({ reason, items }) => [reason, items])).toEqual([
      ['user-text', 1],
      ['assistant-text', 1],
      ['open-call', 1],
      ['write', 1],
      ['recent-result', 2],
      ['small-result', 1],
    ]);
  });

  test('does not say of a response without any call that it awaits its result', async () => {
    const entries = [
      humanText('go'),
      toolContent([toolResponse('lost', 'Bash', LONG)]),
      aiContent([toolCall('1', 'Bash', { command: 'git push' })]),
    ];
    const { stays, largestStaying } = await analyzeBy(entries);
    expect(stays.map(({ reason, items }) => [reason, items])).toEqual([
      ['user-text', 1],
      ['open-call', 1],
      ['other-call', 0],
    ]);
    expect(largestStaying[0]).toMatchObject({ entry: 1, reason: 'other-call' });
  });

  test('distinguishes the newest inclusion of a file from other texts of the user', async () => {
    const inclusion = `--- a.ts ---\n${LONG}--- End of content ---`;
    const entries = [
      humanText(`Look at @a.ts:\n${inclusion}`),
      aiContent('seen'),
      humanText(`Again @a.ts:\n${inclusion}`),
      aiContent('seen'),
      humanText('thanks'),
    ];
    const { stays, rules } = await analyzeBy(entries);
    expect(rules[0]).toMatchObject({ rule: 'file-dedupe', items: 1 });
    expect(rules[0]?.examples).toMatchObject([{ tool: null, path: 'a.ts' }]);
    expect(stays.map(({ reason, items }) => [reason, items])).toEqual([
      ['user-text', 2],
      ['newest-inclusion', 1],
      ['assistant-text', 2],
    ]);
  });

  test('distinguishes calls with the same id in an entry', async () => {
    const entries = [
      aiContent([
        toolCall('1', 'Edit', { file_path: 'b.ts' }),
        toolCall('1', 'Read', { file_path: 'a.ts' }),
      ]),
      // The first response belongs to the newest call with its id.
      toolContent([toolResponse('1', 'Read', LONG), toolResponse('1', 'Edit', LONG)]),
      ...step('2', 'Write', { file_path: 'a.ts' }, 'done'),
      ...step('3', 'Edit', { file_path: 'c.ts' }, 'done'),
    ];
    const analysis = await analyzeBy(entries, KEEPS_ALL, { recency: 1 });
    expectSums(analysis);
    const toolsOf = (name: string): readonly (string | null)[] =>
      analysis.rules
        .filter(({ rule }) => rule === name)
        .flatMap(({ examples }) => examples.map(({ tool }) => tool));
    expect(toolsOf('read-write')).toEqual(['Read']);
    expect(toolsOf('recency')).toEqual(['Edit']);
  });

  test('gives the reasons for entries that recency pruning leaves', async () => {
    const { stays } = await analyzeBy(SESSION, KEEPS_ALL, { recency: 1 });
    const items = new Map(stays.map((figures) => [figures.reason, figures.items]));
    expect(items.get('recent-result')).toBe(1);
    expect(items.get('small-result')).toBe(1);
    expect(items.get('pruned-result')).toBe(1);
    expect(items.get('other-call')).toBeUndefined();
  });

  test('reports what the working set removes, and why it leaves the rest', async () => {
    const entries = [
      ...step('1', 'Read', { file_path: 'a.ts' }, LONG),
      ...step('2', 'Read', { file_path: 'b.ts' }, LONG),
      ...step('3', 'Bash', { command: 'npm test' }, 'ok'),
      ...step('4', 'Grep', { pattern: 'x' }, LONG),
      ...step('5', 'Edit', { file_path: 'b.ts' }, 'done'),
      ...step('6', 'Glob', { pattern: 'y' }, LONG),
      aiContent('finished'),
    ];
    const workingSet = {
      ...KEEPS_ALL,
      ...{ readCalls: 1, searchCalls: 1 },
    };
    const analysis = await analyzeBy(entries, workingSet);
    expectSums(analysis);
    expect(analysis.rules[0]).toMatchObject({
      rule: 'working-set',
      items: 3,
      examples: [
        { tool: 'Read', path: 'a.ts' },
        { tool: 'Read', path: 'b.ts' },
        { tool: 'Grep', excerpt: 'x' },
      ],
    });
    expect(analysis.stays.map(({ reason, items }) => [reason, items])).toEqual([
      ['assistant-text', 1],
      ['write', 1],
      ['recent-result', 1],
      ['small-result', 1],
      ['pruned-result', 3],
    ]);
  });

  test('reports entries that stay until an edit is worth its cost', async () => {
    const entries = [...step('1', 'Read', { file_path: 'a.ts' }, LONG), aiContent('finished')];
    const workingSet = {
      ...KEEPS_ALL,
      ...{ readCalls: 0, paybackCalls: 0 },
    };
    const { stays, tokens } = await analyzeBy(entries, workingSet);
    expect(stays.map(({ reason }) => reason)).toEqual(['assistant-text', 'waiting-result']);
    expect(tokens.with).toBe(tokens.without);
  });

  test('lists the largest staying entries by their index in the session', async () => {
    const { largestStaying } = await analyzeBy(SESSION);
    expect(largestStaying).toHaveLength(5);
    expect(
      largestStaying.slice(0, 2).map(({ entry, tool, reason }) => [entry, tool, reason]),
    ).toEqual([
      [8, 'Bash', 'recent-result'],
      [6, 'Read', 'recent-result'],
    ]);
  });

  test('gives the largest result of each tool', async () => {
    const { tools } = await analyzeBy(SESSION);
    const bash = tools.find(({ tool }) => tool === 'Bash');
    expect(bash).toMatchObject({ calls: 3, largestResult: { path: null, excerpt: 'npm test' } });
    expect(tools.map(({ tool }) => tool)).toEqual(['Read', 'Bash', 'Write']);
  });

  test('finds nothing in an empty session', async () => {
    const analysis = await analyzeBy([]);
    expect(analysis).toMatchObject({ entries: 0, tokens: { without: 0, with: 0 }, tools: [] });
  });
});
