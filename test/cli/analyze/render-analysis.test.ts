// The readable analysis, for recorded sessions.

import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AnalysisReport } from '../../../src/cli/analyze/analysis-report.js';
import { sumAnalyses } from '../../../src/cli/analyze/analysis-totals.js';
import { analyzeFiles } from '../../../src/cli/analyze/run-analyze.js';
import { renderAnalysis } from '../../../src/cli/analyze/render-analysis.js';
import { layoutOf } from '../../../src/cli/terminal/terminal-layout.js';
import { createRedactedLabel } from '../../../src/cli/terminal/content-label.js';
import { jsonText } from '../../../src/cli/terminal/terminal-text.js';
import { formatShare } from '../../../src/cli/terminal/text-layout.js';

const FIXTURES = path.resolve('test/fixtures/transcripts');
const CLAUDE_CODE = 'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl';

async function reportOf(
  files: readonly string[],
  settings: Partial<AnalysisReport['settings']> = {},
): Promise<AnalysisReport> {
  const isFolder = files.length > 1;
  const { sessions, unread } = await analyzeFiles(
    { isFolder: true, files: files.map((file) => path.join(FIXTURES, file)) },
    {
      offload: 'inline',
      strategy: 'high-density',
      recency: settings.recencyRetention ?? undefined,
    },
  );
  return {
    reportVersion: 1,
    path: isFolder ? FIXTURES : path.join(FIXTURES, files[0] ?? ''),
    isFolder,
    settings: { contextLimit: null, recencyRetention: null, ...settings },
    sessions,
    totals: sumAnalyses(sessions),
    unread,
  };
}

const PLAIN = layoutOf(80, false);

let single: AnalysisReport;
let folder: AnalysisReport;

beforeAll(async () => {
  single = await reportOf([CLAUDE_CODE]);
  folder = await reportOf([
    CLAUDE_CODE,
    'swe-agent/humanevalfix-python-0.traj',
    'ATTRIBUTION.md',
    'LICENSES/jdx+mise.txt',
  ]);
});

describe('renderAnalysis', () => {
  test('shows no reclaimed tokens for a category that only grew by rounding', () => {
    const categories = folder.totals.categories.map((figures) =>
      figures.category === 'assistant-text' ? { ...figures, reclaimedTokens: -2 } : figures,
    );
    const text = renderAnalysis({ ...folder, totals: { ...folder.totals, categories } }, PLAIN);
    expect(text).toMatch(/^assistant text .* –$/m);
  });

  test.each([24, 40, 80, 93, 100])('fits a width of %i', (width) => {
    for (const report of [single, folder]) {
      for (const line of renderAnalysis(report, layoutOf(width, false)).split('\n')) {
        expect(line.length, line).toBeLessThanOrEqual(width);
      }
    }
  });

  test('says the same with colours and without', () => {
    const coloured = renderAnalysis(single, layoutOf(80, true));
    const plain = renderAnalysis(single, PLAIN);
    expect(coloured).not.toBe(plain);
    expect(stripVTControlCharacters(coloured).replace(/ +$/gm, '')).toBe(plain);
  });

  test('begins with the reclaimed tokens, and goes from the contents to what stays', () => {
    const text = renderAnalysis(single, PLAIN);
    const { without, with: left } = single.totals.tokens;
    const share = formatShare(without - left, without);
    expect(text).toContain(`claude-code · 132 entries · 28,972 tokens\nPruning reclaims ${share}:`);
    const heads = ['composition', 'by tool', 'what pruning reclaims', 'what stays, and why'];
    const places = heads.map((head) => text.indexOf(head));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(text).toContain('largest that stay');
  });

  test('has a row for results removed by the working set, and a column for the reclaimed tokens of each tool', () => {
    const text = renderAnalysis(single, PLAIN);
    const { items = 0 } = single.totals.rules.find(({ rule }) => rule === 'working-set') ?? {};
    expect(text).toMatch(new RegExp(`\nunused results +${items} `));
    expect(items).toBeGreaterThan(0);
    expect(text).toMatch(/\nby tool +calls +results +of all +reclaimed +largest/);
  });

  test('has a row for old results if recency pruning removes some', async () => {
    expect(renderAnalysis(single, PLAIN)).not.toContain('old results');
    const report = await reportOf([CLAUDE_CODE], { recencyRetention: 2 });
    expect(renderAnalysis(report, PLAIN)).toContain('old results');
  });

  test('lists sessions with their sum, and skipped files by reason', () => {
    const text = renderAnalysis(folder, PLAIN);
    expect(text).toMatch(/__9f-d2fc39aa5f-0\.jsonl +claude-code +132 +28,972 /);
    expect(text).toMatch(/all sessions +143 +32,039 /);
    expect(text).toContain('2 files left out\n  - Text that is no JSON');
    expect(text.match(/Text that is no JSON/g)).toHaveLength(1);
    expect(text).toMatch(/\n {6}LICENSES\/jdx\+mise\.txt\n/);
  });

  test('reports how many sessions exceed the window', async () => {
    // The larger session only fits with pruning.
    const contextLimit = Math.max(...folder.sessions.map(({ tokens }) => tokens.without)) - 1;
    const settings = { contextLimit, recencyRetention: null };
    const sessions = folder.sessions.map((session) => ({ ...session, contextLimit }));
    const report = { ...folder, settings, sessions };
    expect(renderAnalysis(report, PLAIN).replaceAll('\n', ' ')).toContain(
      `A window of ${contextLimit.toLocaleString('en')} is too small for 1 of the sessions without pruning, for 0 with it.`,
    );
    expect(renderAnalysis(folder, PLAIN)).toContain('All fit');
  });

  test('says that a session is empty', () => {
    const nothing = { ...folder, sessions: [], totals: sumAnalyses([]), unread: [] };
    expect(renderAnalysis(nothing, PLAIN)).toContain('nothing to analyze');
  });
});

describe('jsonText of an analysis', () => {
  test('is one JSON document without content of the session', () => {
    const document = JSON.parse(jsonText(single, createRedactedLabel())) as AnalysisReport;
    expect(document.totals.tokens).toEqual(single.totals.tokens);
    expect(jsonText(single, createRedactedLabel())).not.toContain('excerpt');
    const examples = single.totals.rules.flatMap((report) => report.examples);
    expect(examples.some(({ excerpt }) => excerpt !== null)).toBe(true);
  });
});
