// The figures of the five-line integration: each adapter and the session API on the same sessions, in total.

import Table from 'cli-table3';
import { playFiveLines, playSession } from './five-lines.js';
import { measure, sumFigures } from './measure.js';
import { costShare, retainedShare, savedShare } from './shares.js';
import type { Figures } from './measure.js';
import { numberText, percentText } from './policy-table.js';
import type { RecordedSession } from './recorded-session.js';
import { SDK_ROUTES } from './sdk-routes.js';

/** The result for one adapter or the session API. */
export interface FiveLinesRow {
  readonly name: string;
  readonly saved: number;
  /** Price of the input (cached 0.1, other 1), relative to sending everything. */
  readonly cost: number;
  /** The same with cache writes at 1.25. */
  readonly costWithWrites: number;
  readonly retained: number;
  readonly rewrites: number;
  readonly validityErrors: number;
}

/** Measures the adapters, one after another. */
export async function reportFiveLines(
  sessions: readonly RecordedSession[],
): Promise<readonly FiveLinesRow[]> {
  const rows: FiveLinesRow[] = [];
  const ways = [
    ...SDK_ROUTES.map((route) => ({
      name: route.name,
      play: (session: RecordedSession) => playFiveLines(session, route),
    })),
    { name: 'session API', play: playSession },
  ];
  for (const { name, play } of ways) {
    const figures: Figures[] = [];
    let validityErrors = 0;
    for (const session of sessions) {
      const played = await play(session);
      figures.push(measure(session, played.policy));
      validityErrors += played.validityErrors;
    }
    const sum = sumFigures(figures);
    rows.push({
      name,
      saved: savedShare(sum),
      cost:
        plainCost(sum.inputCost, sum.tokens) /
        plainCost(sum.unpruned.inputCost, sum.unpruned.tokens),
      costWithWrites: costShare(sum),
      retained: retainedShare(sum),
      rewrites: sum.prefixChanges,
      validityErrors,
    });
  }
  return rows;
}

/** The price with cache writes at the price of uncached input. */
function plainCost(inputCost: number, tokens: number): number {
  // inputCost = 0.1 cached + 1.25 fresh, and tokens = cached + fresh.
  const fresh = (inputCost - 0.1 * tokens) / 1.15;
  return 0.1 * (tokens - fresh) + fresh;
}

/** Formats the rows as a table. */
export function renderFiveLines(rows: readonly FiveLinesRow[]): string {
  const table = new Table({
    head: [
      'five lines',
      'saved',
      'cost',
      'cost, writes 1.25',
      'retained',
      'rewrites',
      'validity errors',
    ],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows) {
    table.push([
      row.name,
      percentText(row.saved),
      percentText(row.cost),
      percentText(row.costWithWrites),
      percentText(row.retained),
      numberText(row.rewrites),
      numberText(row.validityErrors),
    ]);
  }
  return table.toString();
}
