// Replays of small made-up sessions, on the calling thread.

import { appendFileSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { aiContent, humanText } from '../../../src/index.js';
import { DEFAULT_WORKING_SET } from '../../../src/density.js';
import type { WorkingSetRules } from '../../../src/density.js';
import { createRedactedLabel } from '../../../src/cli/terminal/content-label.js';
import { renderReport } from '../../../src/cli/replay/render-report.js';
import { layoutOf } from '../../../src/cli/terminal/terminal-layout.js';
import { jsonText } from '../../../src/cli/terminal/terminal-text.js';
import { replaySession } from '../../../src/cli/replay/replay-session.js';
import type { ReplayOptions } from '../../../src/cli/replay/replay-session.js';
import { step, transcriptOf } from '../../support/report-documents.js';
import { SummarizerMeter } from '../../../src/cli/replay/summarizer-meter.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import type { ScriptedAnswer } from '../../support/scripted-summarizer.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** The bytes that this process has read from files. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

/** A working set that removes nothing, however many results there are. */
const TAKES_NOTHING: WorkingSetRules = { ...DEFAULT_WORKING_SET, freeTokens: Infinity };

/** Applies edits at once, by rules of a working set. */
function at(workingSet: WorkingSetRules): ReplayOptions['session'] {
  return { edits: 'every-turn', density: { workingSet, shrink: 'off' } };
}

const OPTIONS: ReplayOptions = {
  contextLimit: 200_000,
  offload: 'inline',
  strategy: 'high-density',
  session: at(TAKES_NOTHING),
};

const LONG = 'one line of a long file\n'.repeat(200);

const READ_THEN_WRITE = [
  humanText('fix it'),
  ...step('1', 'Read', { file_path: 'a.ts' }, LONG),
  ...step('2', 'Write', { file_path: '/w/a.ts' }, 'done'),
  aiContent('finished'),
];

describe('replaySession', () => {
  test('starts a new context where the agent compacted, with and without ctxfold', async () => {
    const whole = transcriptOf([
      humanText(LONG),
      aiContent('hi'),
      humanText('in short'),
      aiContent('so'),
    ]);
    const played = await replaySession('f', { ...whole, contextStarts: [2] }, OPTIONS);
    const alone = await replaySession('f', transcriptOf(whole.entries.slice(2)), OPTIONS);
    expect(played.report.modelCalls[1]?.tokens).toEqual(alone.report.modelCalls[0]?.tokens);
    expect(played.report.end.tokens).toEqual(alone.report.end.tokens);
    expect(played.turns.at(-1)).toEqual(alone.turns.at(-1));
    expect(played.contexts[1]?.remaining).toEqual(alone.contexts[0].remaining);
  });

  test('counts what was removed in all contexts against all of their entries', async () => {
    const entries = [...READ_THEN_WRITE, humanText('in short'), aiContent('so')];
    const { report } = await replaySession(
      'f',
      { ...transcriptOf(entries), contextStarts: [READ_THEN_WRITE.length] },
      OPTIONS,
    );
    const { tokens, end, reclaimed } = report;
    expect(reclaimed).toMatchObject([{ rule: 'read-write', tokens: tokens.without - tokens.with }]);
    expect(end.tokens.with).toBe(end.tokens.without);
    expect(end.tokens.without).toBeLessThan(reclaimed[0]!.tokens);
    const shown = renderReport(report, layoutOf(80, false));
    expect(shown).toContain('\nhistory, in all ');
    const shares = Array.from(shown.matchAll(/([\d.]+) %/g), ([, share]) => Number(share));
    expect(Math.max(...shares)).toBeLessThanOrEqual(100);
  });

  test('ends the lifetime of results with their context', async () => {
    const entries = [
      humanText('look'),
      ...step('1', 'Read', { file_path: 'a.ts' }, 'a'),
      aiContent('so'),
      humanText('in short'),
      ...step('2', 'Read', { file_path: 'a.ts' }, 'a'),
      aiContent('finished'),
    ];
    const { lives } = await replaySession(
      'f',
      { ...transcriptOf(entries), contextStarts: [4] },
      OPTIONS,
    );
    expect(lives).toMatchObject([
      { birth: 1, lastUse: 1, shortened: null, removed: 2, rule: null },
      { birth: 3, lastUse: 3, removed: null },
    ]);
  });

  test('makes no model call for earlier answers, nor for texts of the agent', async () => {
    const entries = [
      humanText('one'),
      aiContent('two'),
      humanText('in short'),
      aiContent('two', { isKept: true }),
      aiContent('No response requested.', { synthetic: true }),
      humanText('three'),
      aiContent('four'),
    ];
    const { report } = await replaySession(
      'f',
      { ...transcriptOf(entries), contextStarts: [2] },
      OPTIONS,
    );
    expect(report.modelCalls.map(({ entry }) => entry)).toEqual([1, 6]);
  });

  test('an unedited history costs the same with and without ctxfold', async () => {
    const entries = [humanText('hello'), aiContent('hi'), humanText('bye'), aiContent('see you')];
    const { report } = await replaySession('f', transcriptOf(entries), OPTIONS);
    expect(report.modelCalls.map(({ entry }) => entry)).toEqual([1, 3]);
    for (const { tokens } of [...report.modelCalls, report.end]) {
      expect(tokens.with).toBe(tokens.without);
    }
    expect(report.reclaimed).toEqual([]);
    expect(report.playedEntries).toBe(4);
  });

  test('a superseded read is reclaimed before the next model call', async () => {
    const { report } = await replaySession('f', transcriptOf(READ_THEN_WRITE), OPTIONS);
    const { without, with: left } = report.end.tokens;
    expect(report.modelCalls.map(({ edits }) => edits.length)).toEqual([0, 0, 1]);
    expect(report.reclaimed).toEqual([{ rule: 'read-write', items: 1, tokens: without - left }]);
    expect(report.largest).toMatchObject([
      { rule: 'read-write', tool: 'Read', path: 'a.ts', modelCall: 3, tokens: without - left },
    ]);
    expect(without - left).toBeGreaterThan(1_000);
    expect(report.input.without - report.input.with).toBe(without - left);
  });

  test('recency pruning removes results older than the newest ones', async () => {
    const entries = [
      humanText('look'),
      ...step('1', 'Bash', { command: 'cat secret' }, LONG),
      ...step('2', 'Bash', { command: 'ls' }, LONG),
    ];
    const { report } = await replaySession('f', transcriptOf(entries), {
      ...OPTIONS,
      recency: 1,
    });
    expect(report.reclaimed).toMatchObject([{ rule: 'recency', items: 1 }]);
    expect(report.largest).toMatchObject([
      { parameter: 'cat secret', path: null, modelCall: null },
    ]);
    expect(jsonText(report, createRedactedLabel())).not.toContain('secret');
  });

  test('removals by the working set are distinguished from those by recency pruning', async () => {
    const entries = [
      humanText('look'),
      ...step('1', 'Bash', { command: 'npm test' }, LONG),
      ...step('2', 'Bash', { command: 'npm run lint' }, LONG),
      aiContent('finished'),
    ];
    const workingSet = {
      ...DEFAULT_WORKING_SET,
      ...{ outputCalls: 0, paybackCalls: Infinity, freeTokens: 0 },
    };
    const { report: both } = await replaySession('f', transcriptOf(entries), {
      ...OPTIONS,
      session: at(workingSet),
      recency: 1,
    });
    // Recency removes the first one when there is a newer one, which the model has not been sent yet.
    expect(both.reclaimed).toMatchObject([
      { rule: 'recency', items: 1 },
      { rule: 'working-set', items: 1 },
    ]);
    const late = { ...workingSet, outputCalls: 1, earlyShare: 1 };
    const { report } = await replaySession('f', transcriptOf(entries), {
      ...OPTIONS,
      session: at(late),
      recency: 1,
    });
    expect(report.reclaimed).toMatchObject([{ rule: 'recency', items: 1 }]);
  });

  test('a compression is attributed, and its tokens add up', async () => {
    const entries = [
      humanText('look'),
      ...Array.from({ length: 8 }, (_, n) =>
        step(`${n}`, 'Bash', { command: `cat ${n}` }, LONG),
      ).flat(),
    ];
    const { report } = await replaySession('f', transcriptOf(entries), {
      ...OPTIONS,
      contextLimit: 6_000,
    });
    const windows = [...report.modelCalls, report.end];
    expect(windows.flatMap(({ compressions }) => compressions)).toContainEqual(
      expect.objectContaining({ outcome: 'applied', isByModel: false }),
    );
    expect(windows.every(({ tokens }) => tokens.with <= 6_000)).toBe(true);
    const sum = report.reclaimed.reduce((tokens, total) => tokens + total.tokens, 0);
    expect(sum).toBe(report.end.tokens.without - report.end.tokens.with);
    expect(report.firstCallOverLimit).not.toBeNull();
  });

  test('a session that cannot fit stops, and reports the calls until then', async () => {
    const entries = [
      humanText('hi'),
      aiContent('hello'),
      humanText(LONG.repeat(2)),
      aiContent('oh'),
    ];
    const { report } = await replaySession('f', transcriptOf(entries), {
      ...OPTIONS,
      contextLimit: 500,
    });
    expect(report.exceeded).toMatchObject({ contextLimit: 500 });
    expect(report).toMatchObject({ entries: 4, playedEntries: 3 });
    expect(report.modelCalls).toHaveLength(1);
    expect(report.end.tokens.without).toBeGreaterThan(500);
  });

  test.skipIf(process.platform !== 'linux')(
    'counts what it recorded, without reading what the removal log has from sessions before',
    async () => {
      const removalLog = path.join(temporaryFolder(), 'removals.jsonl');
      const play = () =>
        replaySession('f', transcriptOf(READ_THEN_WRITE), { ...OPTIONS, removalLog });
      const { removals } = (await play()).report;
      expect(removals).toEqual({ file: removalLog, records: 2 });
      appendFileSync(removalLog, readFileSync(removalLog, 'utf8').repeat(2_000));
      const before = bytesRead();
      expect((await play()).report.removals).toEqual(removals);
      expect(bytesRead() - before).toBeLessThan(statSync(removalLog).size / 2);
    },
  );

  test('an empty transcript gives a report', async () => {
    const { report } = await replaySession('f', transcriptOf([]), OPTIONS);
    expect(report).toMatchObject({ entries: 0, modelCalls: [], reclaimed: [] });
    expect(report.end.tokens).toEqual({ without: 0, with: 0 });
  });

  test('aborting rejects with the reason, also once all entries are played', async () => {
    const reason = new Error('enough');
    const late = new AbortController();
    const explained = replaySession('f', transcriptOf(READ_THEN_WRITE), {
      ...{ ...OPTIONS, explains: true, signal: late.signal },
      progress: {
        begin: () => (playedEntries) => {
          if (playedEntries === READ_THEN_WRITE.length) setImmediate(() => late.abort(reason));
        },
        close: () => undefined,
      },
    });
    await expect(explained).rejects.toBe(reason);
    const abortion = new AbortController();
    const replayed = replaySession('f', transcriptOf(READ_THEN_WRITE), {
      ...OPTIONS,
      signal: abortion.signal,
      progress: {
        begin: () => (playedEntries) => {
          if (playedEntries === 2) abortion.abort(reason);
        },
        close: () => undefined,
      },
    });
    await expect(replayed).rejects.toBe(reason);
  });
});

describe('replaySession with a model', () => {
  const entries = [
    humanText('look'),
    ...Array.from({ length: 16 }, (_, at) =>
      step(`${at}`, 'Bash', { command: `cat ${at}` }, LONG),
    ).flat(),
  ];

  function options(
    answers: ScriptedAnswer | readonly ScriptedAnswer[],
    fallbackToTruncation = false,
  ): ReplayOptions {
    const summarizer = new SummarizerMeter(scriptedSummarizer(answers));
    return {
      ...OPTIONS,
      contextLimit: 6_000,
      strategy: 'one-shot',
      summarizer: {
        summarizer,
        settings: {
          baseUrl: 'http://h/v1',
          model: 'm',
          contextLimit: summarizer.contextLimit,
          fallbackToTruncation,
        },
      },
    };
  }

  const GOOD: ScriptedAnswer = {
    text: snapshot('The files were read.'),
    usage: { inputTokens: 100, outputTokens: 10 },
  };

  const CUT_OFF: ScriptedAnswer = { text: snapshot('half'), finishReason: 'length' };

  test('requests are counted for the preflight in which they were made', async () => {
    const { report } = await replaySession('f', transcriptOf(entries), options(GOOD));
    const windows = [...report.modelCalls, report.end];
    const asked = windows.filter(({ summarizer }) => summarizer.requests > 0);
    expect(asked.length).toBeGreaterThan(1);
    for (const { summarizer, compressions } of asked) {
      expect(summarizer).toMatchObject({ requests: 1, inputTokens: 100, outputTokens: 10 });
      expect(compressions).toMatchObject([{ outcome: 'applied', isByModel: true }]);
    }
    expect(report.summarizer).toMatchObject({
      requests: asked.length,
      failedRequests: 0,
      inputTokens: 100 * asked.length,
    });
    expect(report.compressionFailure).toBeNull();
  });

  test('tokens add up over summaries of summaries, which are not counted as items', async () => {
    const { report } = await replaySession('f', transcriptOf(entries), options(GOOD));
    const { without, with: left } = report.end.tokens;
    const [folded, ...others] = report.reclaimed;
    expect(others).toEqual([]);
    expect(folded).toMatchObject({ rule: 'folded-entry', tokens: without - left });
    expect(folded?.items).toBeLessThanOrEqual(entries.length);
    expect(report.largest.every(({ tool }) => tool === 'Bash')).toBe(true);
  });

  test('answers without usage are counted separately', async () => {
    const { report } = await replaySession('f', transcriptOf(entries), options(snapshot('Read.')));
    expect(report.summarizer.requests).toBeGreaterThan(0);
    expect(report.summarizer.unmeteredRequests).toBe(report.summarizer.requests);
  });

  test('a rejected summary stops the replay, and the calls until then are reported', async () => {
    const { report } = await replaySession('f', transcriptOf(entries), options([GOOD, CUT_OFF]));
    expect(report.compressionFailure).toMatchObject({
      code: 'SUMMARY_REJECTED',
      reason: 'cut-off',
    });
    expect(report.end.compressions).toMatchObject([{ outcome: 'failed', reason: 'cut-off' }]);
    expect(report.end.summarizer.requests).toBe(1);
    expect(report.playedEntries).toBeLessThan(entries.length);
    expect(report.reclaimed).toMatchObject([{ rule: 'folded-entry' }]);
  });

  test('a failure over the hard limit also stops it, after the history was made to fit', async () => {
    const sudden = [
      ...entries.slice(0, 7),
      ...step('x', 'Bash', {}, LONG.repeat(3)),
      aiContent('so'),
    ];
    const { report } = await replaySession('f', transcriptOf(sudden), options(CUT_OFF));
    expect(report.compressionFailure).not.toBeNull();
    expect(report.end.fitted).not.toBeNull();
    expect(report.end.tokens.with).toBeLessThanOrEqual(6_000);
  });

  test('with the fallback, truncation replaces the summary', async () => {
    const { report } = await replaySession('f', transcriptOf(entries), options(CUT_OFF, true));
    const windows = [...report.modelCalls, report.end];
    const [first] = windows.flatMap(({ compressions }) => compressions);
    expect(first).toMatchObject({
      strategy: 'top-down-truncation',
      fallbackFrom: 'one-shot',
      outcome: 'applied',
      isByModel: false,
    });
    expect(report.playedEntries).toBe(entries.length);
    expect(report.reclaimed).toMatchObject([{ rule: 'dropped-entry' }]);
    expect(report.failures[0]).toContain('cut off');
  });
});
