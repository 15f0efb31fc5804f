// Writes all tables and charts of the page about fidelity in one run, so that none of them is older than another.

import { readFile, writeFile } from 'node:fs/promises';
import { drawChart } from './chart.js';
import { figuresPart, tablePart, withParts } from './figures-page.js';
import { loadSessions, OWN_SESSIONS } from './load-sessions.js';
import { MODES } from './modes.js';
import type { Mode } from './modes.js';
import { BATCHED_POLICY } from './policies.js';
import { formatTable, policyTable, shortTable } from './policy-table.js';
import type { RecordedSession } from './recorded-session.js';
import { mainGroup, reportFidelity } from './report.js';

const PAGE = 'docs/fidelity.md';
/** A common rule, to compare the default with. */
const COMMON_POLICY = 'last 10 results per tool';

/** Measures everything. Returns what was written. @throws RangeError without transcripts or without traces. */
export async function writeDocs(contexts: readonly RecordedSession[]): Promise<string> {
  const transcripts = contexts.filter(({ hasTexts = true }) => hasTexts);
  const traces = contexts.filter(({ hasTexts = true }) => !hasTexts);
  if (transcripts.length === 0 || traces.length === 0) {
    throw new RangeError('Expected folders with transcripts and with traces.');
  }
  const reports = {
    transcripts: reportFidelity(transcripts, []),
    traces: reportFidelity(traces, []),
  };
  const { contexts: own } = await loadSessions([OWN_SESSIONS]);
  const part = async (mode: Mode, played: readonly RecordedSession[]): Promise<string> =>
    tablePart(await MODES[mode](played));
  const [ofTraces] = reports.traces.groups;
  const parts = {
    short: tablePart(shortTable(reports, [BATCHED_POLICY, COMMON_POLICY])),
    transcripts: figuresPart(reports.transcripts),
    traces: ofTraces === undefined ? '' : tablePart(policyTable(ofTraces)),
    agents: tablePart(formatTable(reports.traces, BATCHED_POLICY)),
    excerpts: await part('excerpts', transcripts),
    money: await part('money', contexts),
    tuning: await part('tune', transcripts),
    metamorphic: await part('metamorphic', transcripts),
    shrinking: await part('shrink', transcripts),
    'five lines': await part('five-lines', transcripts),
    'five lines, bundled': await part('five-lines', own),
  };
  for (const [name, file] of [
    ['transcripts', 'docs/fidelity.svg'],
    ['traces', 'docs/fidelity-traces.svg'],
  ] as const) {
    const charted = mainGroup(reports[name]);
    if (charted !== undefined) await writeFile(file, drawChart(charted));
  }
  await writeFile(PAGE, withParts(await readFile(PAGE, 'utf8'), parts));
  return `Wrote ${PAGE}.`;
}
