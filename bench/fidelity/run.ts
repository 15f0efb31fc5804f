// Measures on recorded sessions what pruning saves and what it takes from the agent's view:
// `npm run fidelity -- <file or folder>... [--json] [--places] [--chart file.svg]`.

import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { CompressionStrategyError, readTranscript } from '../../src/index.js';
import { findSources } from '../../src/main/cli/analyze-sources.js';
import { drawChart } from './chart.js';
import { recordSession } from './recorded-session.js';
import type { RecordedSession } from './recorded-session.js';
import { renderFidelity } from './render.js';
import { reportFidelity } from './report.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    places: { type: 'boolean', default: false },
    chart: { type: 'string' },
  },
});
if (positionals.length === 0) throw new RangeError('Expected files or folders with sessions.');

const sessions: RecordedSession[] = [];
const skipped: string[] = [];
for (const path of positionals) {
  for (const file of (await findSources(path)).files) {
    try {
      sessions.push(recordSession(file, await readTranscript(file)));
    } catch (error) {
      if (!(error instanceof CompressionStrategyError)) throw error;
      skipped.push(file);
    }
  }
}
if (sessions.length === 0) throw new RangeError('None of the files holds a session.');

const report = reportFidelity(sessions, skipped);
const [all] = report.groups;
if (values.chart !== undefined && all !== undefined) await writeFile(values.chart, drawChart(all));
process.stdout.write(
  `${values.json ? JSON.stringify(report, null, 2) : renderFidelity(report, values.places)}\n`,
);
