// A rule works everywhere as soon as it is in the list: no other source file names it.

import { describe, expect, it, vi } from 'vitest';
import { DEFAULT_DENSITY_CONFIG, listRuleEdits } from '../../src/density.js';
import { humanText } from '../../src/index.js';
import { SETTINGS_REGISTRY } from '../../src/settings.js';
import type { DensityConfig } from '../../src/density.js';
import type { PrunedEvent } from '../../src/index.js';
import { analyzeRecording } from '../../src/cli/analyze/analysis.js';
import { sumAnalyses } from '../../src/cli/analyze/analysis-totals.js';
import { renderAnalysis } from '../../src/cli/analyze/render-analysis.js';
import { renderReport } from '../../src/cli/replay/render-report.js';
import { layoutOf } from '../../src/cli/terminal/terminal-layout.js';
import { DeltaQueue } from '../../src/main/offload/delta-queue.js';
import { readDeltaReply } from '../../src/main/offload/reply.js';
import { isSamePass, optimize, planWithTexts } from '../../src/shared/density/plan/optimize.js';
import { ResidentHistory } from '../../src/worker/resident-history.js';
import { LAST_OF_TOOL, LAST_OF_TOOL_KEY, LAST_OF_TOOL_ON } from '../support/last-of-tool.js';
import { historyOf } from '../support/notation.js';
import { documentOf, record, step } from '../support/report-documents.js';
import { openSession } from '../support/session-bench.js';

vi.mock('../../src/shared/density/rules/density-rules.js', async (importOriginal) => {
  const original = await importOriginal<Record<string, readonly unknown[]>>();
  const added = await vi.importActual<Record<string, unknown>>('../support/last-of-tool.js');
  const rules = [...(original.DENSITY_RULES ?? []), added.LAST_OF_TOOL];
  return { ...original, DENSITY_RULES: rules, PRUNING_RULES: rules };
});

vi.mock('../../src/shared/density.js', async (importOriginal) => {
  const original = await importOriginal<Record<string, object>>();
  const added = await vi.importActual<Record<string, object>>('../support/last-of-tool.js');
  const config = { ...original.DEFAULT_DENSITY_CONFIG, ...added.LAST_OF_TOOL_ON };
  return { ...original, DEFAULT_DENSITY_CONFIG: config };
});

const { name, item, counter } = LAST_OF_TOOL;
const CONFIG: DensityConfig = {
  ...DEFAULT_DENSITY_CONFIG,
  ...LAST_OF_TOOL_ON,
  workspaceRoot: '/w',
};
/** The second entry of a tool is the first of its two results. */
const HISTORY = 'h a:s1 t:s1 a:s2 t:s2 a';
/** Lines that are not alike, so that no other rule applies. */
const LONG = Array.from(
  { length: 200 },
  (_, at) => `a line ${'x'.repeat(at % 29)}${'y'.repeat(at % 31)}`,
).join('\n');
const STEPS = [
  humanText('look'),
  ...step('1', 'Lint', { target: 'a' }, LONG),
  ...step('2', 'Lint', { target: 'b' }, LONG),
];

describe('a rule added to the list', () => {
  const history = historyOf(HISTORY);

  it('takes its part in the plan, and is counted', () => {
    const { rows = new Int32Array(), metadata } = optimize(history, CONFIG);
    expect(listRuleEdits(rows, (entry) => history[entry]?.blocks)).toEqual([
      { entry: 2, block: 0, rule: name, action: 'pointer', path: null },
    ]);
    expect(metadata).toMatchObject({ readWritePairsPruned: 0, recencyPruned: 0, [counter]: 1 });
  });

  it('has its setting checked', () => {
    const [field = ''] = Object.keys(LAST_OF_TOOL_ON);
    expect(() => optimize(history, { ...CONFIG, [field]: 'yes' })).toThrow(
      `${field}: expected true or false, got the string "yes"`,
    );
  });

  it('marks the same in a resident history as inline, and its reply is accepted', () => {
    const base = { revision: 0, length: history.length };
    const resident = new ResidentHistory(
      { agent: { workspaceRoot: '/w' }, countsTokens: true },
      ({ length }) => length,
    );
    const state = { base, entries: history, countedTokens: () => undefined };
    const parcel = new DeltaQueue(state, history.length).take();
    const delta = { ...parcel!.delta, pass: CONFIG };
    const value = resident.receive(delta);
    const reply = readDeltaReply(delta, true, { ok: true, value, runMs: 1 });
    expect(reply.value.pass?.plan).toEqual(planWithTexts(history, CONFIG).plan);
    expect(reply.value.pass?.plan).not.toHaveLength(0);
  });

  it('is named in the event of the edit, and has a setting', async () => {
    expect(SETTINGS_REGISTRY.map(({ key }) => key)).toContain(LAST_OF_TOOL_KEY);
    const events: PrunedEvent[] = [];
    const play = async (isOn: boolean): Promise<number> => {
      const session = openSession({ entries: history, settings: { [LAST_OF_TOOL_KEY]: isOn } });
      session.on('pruned', (event) => events.push(event));
      await session.ensureDensityOptimized();
      return events.length;
    };
    expect(await play(false)).toBe(0);
    expect(await play(true)).toBe(1);
    expect(events[0]?.edits).toMatchObject([{ entry: 2, rule: name, action: 'pointer' }]);
    expect(events[0]?.metadata).toHaveProperty(counter, 1);
  });

  it('makes passes with it and without it differ', () => {
    const [field] = LAST_OF_TOOL.settings.map((setting) => setting.field);
    const off = { ...CONFIG, [field ?? '']: false };
    expect(isSamePass(off, { ...off })).toBe(true);
    expect(isSamePass(off, CONFIG)).toBe(false);
  });

  it('explains what it removes and what it keeps', () => {
    const session = openSession({ entries: history });
    expect(session.explain(2).blocks).toMatchObject([
      { rule: name, verdict: 'placeholder', text: 'The tool has answered since: asked-again.' },
    ]);
    expect(session.explain(4).blocks).toMatchObject([{ rule: name, reason: 'last' }]);
  });

  it('has rows of its own in an analysis', async () => {
    const recording = await record(STEPS);
    const session = analyzeRecording(recording);
    expect(session.rules).toMatchObject([{ rule: name, items: 1 }]);
    const text = renderAnalysis(
      {
        ...{ reportVersion: 1, path: 'f', isFolder: false, unread: [], sessions: [session] },
        settings: { contextLimit: 200_000, recencyRetention: null },
        totals: sumAnalyses([session]),
      },
      layoutOf(100, false),
    );
    expect(text).toMatch(new RegExp(`\n${item}s +1 `));
  });

  it('has rows of its own in a replay and in the report', async () => {
    const recording = await record(STEPS);
    const { report: replay } = recording;
    expect(replay.reclaimed).toMatchObject([{ rule: name, items: 1 }]);
    expect(renderReport(replay, layoutOf(100, false))).toContain(`${item}s`);
    expect(recording.rows.map(({ why }) => why?.text)).toEqual([
      'The tool has answered since: asked-again.',
    ]);
    expect(await documentOf(STEPS)).toContain(`by rule: ${item}`);
  });
});
