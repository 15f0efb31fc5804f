// The figures of the five-line integration: each adapter and the session API on the same sessions, in total.

import { playFiveLines, playSession } from './five-lines.js';
import { measure, sumFigures } from './measure.js';
import { costShare, retainedShare, savedShare } from './shares.js';
import type { Figures } from './measure.js';
import { numberText, percentText, sessionsText } from './policy-table.js';
import type { TextTable } from './policy-table.js';
import type { RecordedSession } from './recorded-session.js';
import { SDK_ROUTES } from './sdk-routes.js';

/** Measures the adapters, one after another. Cost has cache writes at the price of input, and at 1.25 times that. */
export async function fiveLinesTable(sessions: readonly RecordedSession[]): Promise<TextTable> {
  const rows: (readonly string[])[] = [];
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
    const cost =
      plainCost(sum.inputCost, sum.tokens) / plainCost(sum.unpruned.inputCost, sum.unpruned.tokens);
    rows.push([
      name,
      ...[savedShare(sum), cost, costShare(sum), retainedShare(sum)].map(percentText),
      ...[sum.prefixChanges, validityErrors].map(numberText),
    ]);
  }
  return {
    title: 'Five lines',
    subtitle: sessionsText(sessions),
    heads: [
      ...['five lines', 'saved', 'cost', 'writes at 1.25'],
      ...['text of edits in view', 'rewrites', 'validity errors'],
    ],
    rows,
  };
}

/** The price with cache writes at the price of uncached input. */
function plainCost(inputCost: number, tokens: number): number {
  // inputCost = 0.1 cached + 1.25 fresh, and tokens = cached + fresh.
  const fresh = (inputCost - 0.1 * tokens) / 1.15;
  return 0.1 * (tokens - fresh) + fresh;
}
