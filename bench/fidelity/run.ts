// Measures on recorded sessions what pruning saves and what it takes from the agent's view:
// `npm run fidelity -- <file or folder>... [--json] [--places] [--chart file.svg] [--docs]`. `--docs` writes
// the figures and the chart into the documentation.

import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { CtxfoldError, readTranscript } from '../../src/index.js';
import { findSources } from '../../src/main/cli/analyze-sources.js';
import { drawChart } from './chart.js';
import { renderFiveLines, reportFiveLines } from './five-lines-report.js';
import { withFigures } from './figures-page.js';
import { recordSession } from './recorded-session.js';
import type { RecordedSession } from './recorded-session.js';
import { renderFidelity } from './render.js';
import { mainGroup, reportFidelity } from './report.js';

/** The sessions that come with the project. */
const OWN_SESSIONS = 'test/fixtures/transcripts';
const PAGE = 'docs/fidelity.md';
const PAGE_CHART = 'docs/fidelity.svg';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    places: { type: 'boolean', default: false },
    chart: { type: 'string' },
    docs: { type: 'boolean', default: false },
    'five-lines': { type: 'boolean', default: false },
  },
});
const isFiveLines = values['five-lines'];
if (positionals.length === 0 && !isFiveLines) {
  throw new RangeError('Expected files or folders with sessions.');
}

const sessions: RecordedSession[] = [];
const skipped: string[] = [];
const known = new Set<string>();
for (const path of isFiveLines ? [OWN_SESSIONS, ...positionals] : positionals) {
  for (const file of (await findSources(path)).files) {
    const content = await readFile(file, 'utf8');
    // The project's own sessions may be in the given folders as well.
    if (isFiveLines && known.has(content)) continue;
    known.add(content);
    try {
      sessions.push(recordSession(file, await readTranscript(file)));
    } catch (error) {
      if (!(error instanceof CtxfoldError)) throw error;
      skipped.push(file);
    }
  }
}
if (sessions.length === 0) throw new RangeError('None of the files holds a session.');

if (isFiveLines) {
  const rows = await reportFiveLines(sessions);
  process.stdout.write(`${values.json ? JSON.stringify(rows, null, 2) : renderFiveLines(rows)}\n`);
  process.exit();
}

const report = reportFidelity(sessions, skipped);
const charts = [values.chart, values.docs ? PAGE_CHART : undefined];
const charted = mainGroup(report);
for (const file of charts) {
  if (file !== undefined && charted !== undefined) await writeFile(file, drawChart(charted));
}
if (values.docs) await writeFile(PAGE, withFigures(await readFile(PAGE, 'utf8'), report));
process.stdout.write(
  `${values.json ? JSON.stringify(report, null, 2) : renderFidelity(report, values.places)}\n`,
);
