// Measures on recorded sessions what pruning saves and what it removes from the agent's view: `npm run fidelity -- [file or
// folder]... [--json] [--places] [--chart file.svg]`, by default on the sessions in this repository. An option of `modes.ts`
// measures something else instead. `--docs` writes all tables and charts of the documentation.

import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { drawChart } from './chart.js';
import { loadSessions, OWN_SESSIONS } from './load-sessions.js';
import type { LoadedSessions } from './load-sessions.js';
import { MODES } from './modes.js';
import type { Mode } from './modes.js';
import { renderFidelity, renderTable } from './render.js';
import { mainGroup, reportFidelity } from './report.js';
import { writeDocs } from './write-docs.js';

const OFF = { type: 'boolean', default: false } as const;
const NAMES = Object.keys(MODES) as Mode[];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...(Object.fromEntries(NAMES.map((name) => [name, OFF])) as Record<Mode, typeof OFF>),
    json: OFF,
    places: OFF,
    docs: OFF,
    chart: { type: 'string' },
  },
});

const loaded = await loadSessions(positionals.length === 0 ? [OWN_SESSIONS] : positionals);
process.stdout.write(`${await run(loaded)}\n`);
process.exit();

/** Returns the output. */
async function run(loaded: LoadedSessions): Promise<string> {
  if (values.docs) return writeDocs(loaded.contexts);
  const mode = NAMES.find((name) => values[name]);
  if (mode === undefined) return runMeasure(loaded);
  const table = await MODES[mode](loaded.contexts);
  return values.json ? JSON.stringify(table, null, 2) : renderTable(table);
}

/** Returns the output, and writes the requested chart. */
async function runMeasure({ contexts, skipped }: LoadedSessions): Promise<string> {
  const report = reportFidelity(contexts, skipped);
  const charted = mainGroup(report);
  if (values.chart !== undefined && charted !== undefined) {
    await writeFile(values.chart, drawChart(charted));
  }
  return values.json ? JSON.stringify(report, null, 2) : renderFidelity(report, values.places);
}
