// Prints the comparison: by tool, the cost of the first and of later turns, and the tokens reclaimed.

import Table from 'cli-table3';
import type { ThreadTime } from './main-thread.js';
import type { PeerFigures, PeerRun } from './peer-figures.js';

/** The comparison as text: a table and a description of each tool. */
export function renderPeers(figures: readonly PeerFigures[], sizes: readonly number[]): string {
  const table = new Table({
    head: [
      'tool',
      'turn of 5: wall / main thread busy',
      ...sizes.map((size) => size.toLocaleString('en')),
      'growth',
    ],
    colAligns: ['left', 'left', ...sizes.map(() => 'right' as const), 'right'],
    style: { head: [], border: [], compact: true },
  });
  const tools = [...new Set(figures.map(({ tool }) => tool))];
  for (const tool of tools) {
    const ofTool = sizes.map((size) =>
      figures.find((one) => one.tool === tool && one.entries === size),
    );
    const runs = ofTool.map((one) => (one?.outcome === 'measured' ? one : undefined));
    table.push(
      [tool, 'first', ...ofTool.map(renderFirst), growth(runs.map((run) => run?.first))],
      ['', 'later', ...runs.map(renderRepeated), growth(runs.map((run) => run?.repeated))],
      ['', 'tokens reclaimed', ...runs.map(renderReclaimed), ''],
    );
  }
  const notes = tools.map((tool) => {
    return `- ${tool}: ${figures.find((one) => one.tool === tool)?.note ?? ''}`;
  });
  return [table.toString(), ...notes].join('\n');
}

function renderFirst(figures: PeerFigures | undefined): string {
  if (figures === undefined) return '';
  if (figures.outcome === 'measured') return renderTime(figures.first);
  return figures.outcome === 'skipped' ? 'not tried' : `over ${figures.budgetMs / 1_000} s`;
}

function renderRepeated(run: PeerRun | undefined): string {
  return run?.repeated === undefined ? '' : renderTime(run.repeated);
}

function renderReclaimed(run: PeerRun | undefined): string {
  if (run === undefined) return '';
  const { tokens, tokensSent, brokenPairs } = run;
  const share = Math.round(((tokens - tokensSent) / tokens) * 100);
  const broken = brokenPairs === 0 ? '' : `, ${brokenPairs} pairs broken`;
  return `${thousands(tokens - tokensSent)} of ${thousands(tokens)} (${share} %)${broken}`;
}

/** Growth of the wall time between consecutive measured sizes. */
function growth(times: readonly (ThreadTime | undefined)[]): string {
  const factors = times.slice(1).map((time, at) => {
    const before = times[at];
    return time === undefined || before === undefined
      ? ''
      : `×${significant(time.wallMs / before.wallMs)}`;
  });
  return factors.filter((factor) => factor !== '').join(' ');
}

function renderTime({ wallMs, busyMs }: ThreadTime): string {
  return `${significant(wallMs)} / ${significant(busyMs)} ms`;
}

function thousands(tokens: number): string {
  return `${Math.round(tokens / 1_000).toLocaleString('en')}k`;
}

/** Two significant digits, without exponents. */
function significant(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString('en', { maximumSignificantDigits: 2 });
}
