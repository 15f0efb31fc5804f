// The readable report, compared as a whole at a fixed width.

import { sumInput } from '../../../src/cli/replay/money.js';
import { describe, expect, test } from 'vitest';
import { renderReport } from '../../../src/cli/replay/render-report.js';
import { layoutOf } from '../../../src/cli/terminal/terminal-layout.js';
import type {
  CompressionReport,
  ReplayReport,
  PreflightReport,
} from '../../../src/cli/replay/replay-report.js';
import { NO_USE } from '../../../src/cli/replay/summarizer-meter.js';

function preflight(
  without: number,
  left: number,
  edits: PreflightReport['edits'] = [],
): PreflightReport {
  return {
    tokens: { without, with: left },
    edits,
    compressions: [],
    fitted: null,
    summarizer: NO_USE,
    waitMs: 1,
  };
}

const READ = { rule: 'read-write', items: 1, tokens: 1_000 } as const;

const NO_MONEY = {
  ...sumInput([]),
  price: { price: { name: 'm', input: 1, cacheRead: 1, cacheWrite: 1 }, origin: 'recorded' },
} as const;

const REPORT: ReplayReport = {
  money: NO_MONEY,
  reportVersion: 1,
  file: 'session.jsonl',
  format: 'claude-code',
  workspaceRoot: null,
  settings: {
    contextLimit: 200_000,
    strategy: 'high-density',
    threshold: null,
    preserveThreshold: null,
    topPreserveThreshold: null,
    recencyRetention: null,
    offload: 'auto',
    threads: null,
    summarizer: null,
  },
  exceeded: null,
  compressionFailure: null,
  entries: 6,
  playedEntries: 6,
  modelCalls: [
    { entry: 1, ...preflight(500, 500) },
    { entry: 3, ...preflight(1_500, 1_500) },
    { entry: 5, ...preflight(2_000, 1_000, [READ]) },
  ],
  end: preflight(2_000, 1_000),
  tokens: { without: 2_000, with: 1_000 },
  input: { without: 4_000, with: 3_000 },
  firstCallOverLimit: null,
  reclaimed: [READ],
  largest: [
    {
      rule: 'read-write',
      speaker: 'ai',
      tool: 'Read',
      path: '/home/somebody/projects/a-project/source/deeply/nested/file.ts',
      parameter: null,
      tokens: 1_000,
      modelCall: 3,
    },
  ],
  summarizer: NO_USE,
  removals: null,
  mainThread: {
    longestDelayMs: 4.25,
    p50DelayMs: 0,
    p99DelayMs: 1,
    utilization: 0.125,
    elapsedMs: 400,
    windowWaitMs: 30,
    windowBusyMs: 12,
    longestWindowMs: 20,
  },
  offload: {
    residentPasses: 3,
    workerTasks: 4,
    inlineTasks: 4,
    fallbacks: 0,
    failures: 0,
    openings: 1,
    workerMs: 25,
    queueMs: 0.5,
    mainThreadMs: 2,
    bytesSent: 20_000,
  },
  failures: [],
  warnings: [{ message: 'Odd.', count: 7, places: ['line 1', 'line 2'] }],
};

const render = (report: ReplayReport): string => renderReport(report, layoutOf(60, false));

describe('renderReport', () => {
  test('shows everything within the width', () => {
    expect(render(REPORT)).toBe(`ctxfold replay session.jsonl
claude-code · 6 entries · 3 model calls
context window 200,000 · high-density · offload auto

tokens                 without   with   saved
history at the end       2,000  1,000  50.0 %
sent, all model calls    4,000  3,000  25.0 %

tokens per model call   █ sent with ctxfold  ░ sent without
2K ┤            ░░░░░░
   │            ░░░░░░
   │      ▄▄▄▄▄▄░░░░░░
   │      ██████░░░░░░
   │      ██████░░░░░░
1K ┤      ████████████
   │      ████████████
   │▄▄▄▄▄▄████████████
   │██████████████████
   │██████████████████
 0 └──────────────────
    1   model call   3

reclaimed         items  tokens  of all
superseded reads      1   1,000  50.0 %

tokens  call  largest items    tool  about
 1,000     3  superseded read  Read  …/deeply/nested/file.ts

run
history     edits before 1 of 3 model calls · 0 compressions
event loop  longest block 4.3 ms · busy 12.5 % of 400 ms
            preflights 30 ms, 12 ms of it busy
            longest preflight 20 ms
work        4 tasks in workers for 25 ms
            3 passes over a resident history
            0.50 ms in queue · 4 tasks inline
            main thread busy for 2.0 ms · 0 fallbacks

7 warnings from the transcript reader
  - Odd. (7 times) [line 1, line 2, …]
`);
  });

  test('says so when nothing was removed', () => {
    const untouched = { ...REPORT, reclaimed: [], largest: [], warnings: [] };
    expect(render(untouched)).toContain('Nothing was removed: the history is unchanged');
  });

  test('says so when there is nothing to replay', () => {
    const empty = { ...REPORT, entries: 0, playedEntries: 0, modelCalls: [], warnings: [] };
    expect(render(empty)).toContain('no entries');
    expect(render(empty)).not.toContain('NaN');
  });

  test('reports where a session stopped fitting', () => {
    const exceeded = { message: 'It is too large.', projectedTokens: 9, contextLimit: 5 };
    const text = render({ ...REPORT, exceeded, playedEntries: 4, firstCallOverLimit: 2 });
    expect(text).toContain('4 of 6 entries');
    expect(text).toContain('Stopped before model call 4: It is too large.');
    expect(text).toContain('Without ctxfold, model call 2 would not have fitted');
  });

  test('reports the calls and costs of a summarizer', () => {
    const compression = (
      outcome: CompressionReport['outcome'],
      more: Partial<CompressionReport> = {},
    ): CompressionReport => ({
      strategy: 'one-shot',
      outcome,
      reason: null,
      fallbackFrom: null,
      isByModel: false,
      tokensBefore: 9,
      tokensAfter: 9,
      ...more,
    });
    const text = render({
      ...REPORT,
      settings: {
        ...REPORT.settings,
        strategy: 'one-shot',
        summarizer: {
          baseUrl: 'http://h/v1',
          model: 'a-model',
          contextLimit: 32_000,
          fallbackToTruncation: true,
        },
      },
      end: {
        ...REPORT.end,
        compressions: [
          compression('applied', { isByModel: true }),
          compression('applied', { strategy: 'top-down-truncation', fallbackFrom: 'one-shot' }),
          compression('rejected'),
          compression('held', { reason: 'no-growth' }),
          compression('failed', { reason: 'cut-off' }),
        ],
        fitted: { summarizedEntries: 1, droppedEntries: 2, tokensBefore: 9, tokensAfter: 5 },
      },
      compressionFailure: {
        message: 'Cut off.',
        said: null,
        code: 'SUMMARY_REJECTED',
        reason: 'cut-off',
      },
      reclaimed: [{ rule: 'folded-entry', items: 3, tokens: 1_000 }],
      summarizer: {
        requests: 4,
        failedRequests: 1,
        inputTokens: 5_000,
        outputTokens: 600,
        unmeteredRequests: 1,
        waitMs: 2_000,
      },
      removals: { file: 'kept.jsonl', records: 7 },
      failures: ['Busy.', 'Busy.'],
    });
    for (const words of [
      'summaries by a-model at http://h/v1 · its window 32,000',
      'truncation if it fails',
      'sent for summaries           0  5,000',
      'Stopped before model call 4: Cut off.',
      'entries summarized by the model      3   1,000',
      '2 compressions, 1 by the model',
      '1 truncated instead · 1 discarded · 1 held back',
      '1 failed · made to fit 1 time',
      '4 requests · 1 failed · 5,000 tokens read',
      '600 written · 1 without usage figures',
      'waited 2.0 s',
      '7 original entries in the removal log',
      'Busy. (2 times)',
    ]) {
      expect(text).toContain(words);
    }
  });

  test('lets no control character of a transcript through', () => {
    const [item] = REPORT.largest;
    const evil = [{ ...item!, path: '\u001b[2J\u202eevil\n.ts', tool: 'a\u0007b' }];
    expect(render({ ...REPORT, largest: evil })).not.toMatch(/[\u001b\u0007\u202e]/);
  });

  test('only has colours on request', () => {
    const escape = String.fromCharCode(27);
    expect(render(REPORT)).not.toContain(escape);
    expect(renderReport(REPORT, layoutOf(200, true))).toContain(escape);
  });

  test.each([20, 60, 80, 100, 300])('uses 60 to 100 columns when offered %i', (width) => {
    const lines = renderReport(REPORT, layoutOf(width, false)).split('\n');
    const limit = Math.min(100, Math.max(60, width));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(limit);
  });
});
