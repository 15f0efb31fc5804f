// Measures on recorded sessions what pruning saves and what it removes from the agent's view: `npm run fidelity -- <file or
// folder>... [--json] [--places] [--chart file.svg] [--docs] [--tune]`. `--docs` writes the figures and the chart into the
// documentation; `--tune` searches for better settings instead; `--shrink` prints what each way of shrinking results saves,
// `--money` the price of the input (with `--docs` into the documentation as well), `--five-lines` the figures of the adapters,
// `--compaction` what pruning before a provider's compaction saves, `--excerpts` which identifiers excerpts keep.

import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { drawChart } from './chart.js';
import { compactionTable } from './compaction-report.js';
import { excerptTable } from './excerpt-report.js';
import { withFigures, withMoney } from './figures-page.js';
import { moneyTable } from './money-report.js';
import { renderFidelity, renderTable } from './render.js';
import { mainGroup, reportFidelity } from './report.js';
import { loadSessions } from './load-sessions.js';
import type { LoadedSessions } from './load-sessions.js';
import { renderShrinking } from './shrinking-report.js';
import { runTuning } from './tuning/run-tuning.js';
import { renderFiveLines, reportFiveLines } from './five-lines-report.js';

/** The sessions in this repository. */
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
    tune: { type: 'boolean', default: false },
    'five-lines': { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    money: { type: 'boolean', default: false },
    compaction: { type: 'boolean', default: false },
    excerpts: { type: 'boolean', default: false },
  },
});
const isFiveLines = values['five-lines'];
if (positionals.length === 0 && !isFiveLines) {
  throw new RangeError('Expected files or folders with sessions.');
}

const loaded = await loadSessions(isFiveLines ? [OWN_SESSIONS, ...positionals] : positionals);
process.stdout.write(`${await run(loaded)}\n`);
process.exit();

/** Returns the output. */
async function run(loaded: LoadedSessions): Promise<string> {
  if (values.tune) return runTuning(loaded.contexts);
  if (values.shrink) return renderShrinking(loaded.contexts);
  if (values.money) return runMoney(loaded);
  if (values.compaction) return renderTable(await compactionTable(loaded.contexts));
  if (values.excerpts) return renderTable(excerptTable(loaded.contexts));
  if (!isFiveLines) return runMeasure(loaded);
  const rows = await reportFiveLines(loaded.contexts);
  return values.json ? JSON.stringify(rows, null, 2) : renderFiveLines(rows);
}

/** Returns the output; `--docs` also writes it into the documentation. */
async function runMoney({ contexts }: LoadedSessions): Promise<string> {
  const table = moneyTable(contexts);
  if (values.docs) await writeFile(PAGE, withMoney(await readFile(PAGE, 'utf8'), table));
  return values.json ? JSON.stringify(table, null, 2) : renderTable(table);
}

/** Returns the output, and writes the requested files. */
async function runMeasure({ contexts, skipped }: LoadedSessions): Promise<string> {
  const report = reportFidelity(contexts, skipped);
  const charts = [values.chart, values.docs ? PAGE_CHART : undefined];
  const charted = mainGroup(report);
  for (const file of charts) {
    if (file !== undefined && charted !== undefined) await writeFile(file, drawChart(charted));
  }
  if (values.docs) await writeFile(PAGE, withFigures(await readFile(PAGE, 'utf8'), report));
  return values.json ? JSON.stringify(report, null, 2) : renderFidelity(report, values.places);
}
