// What the default costs at the prices of three model families, with a cache that is always warm and with one that goes cold in
// recorded gaps: for all sessions together and for the most expensive one.

import { CACHE_READ_PRICES } from './context-meter.js';
import { measure, sumFigures } from './measure.js';
import type { Figures } from './measure.js';
import { batched, shrinking } from './policies.js';
import type { Policy } from './policy.js';
import { numberText, sessionsText } from './policy-table.js';
import type { TextTable } from './policy-table.js';
import type { RecordedSession } from './recorded-session.js';
import { costRatio, shareOf } from './shares.js';
import { isAnswer } from '../../src/cli/replay/session-player.js';
import { DEFAULT_WORKING_SET } from '../../src/density.js';

const WRITE_PRICE = 1.25;

/** Only sessions with texts have anything to shrink. */
const ALONE = "shrinking 'lossless' alone, of texts";

/** By name: the policy for a given price of cache reads. */
const POLICIES: readonly (readonly [name: string, (read: number) => Policy])[] = [
  [ALONE, () => shrinking('lossless', 'lossless')],
  ["edits 'auto', shrinking 'lossless'", (read) => auto(read, 'lossless')],
  ["edits 'auto', shrinking 'default'", (read) => auto(read, 'default')],
];

function auto(read: number, shrink: 'lossless' | 'default'): Policy {
  return batched(`${shrink} at ${read}`, DEFAULT_WORKING_SET, shrink, { read, write: WRITE_PRICE });
}

/** Returns the table; costs are percentages of sending everything. */
export function moneyTable(contexts: readonly RecordedSession[]): TextTable {
  const sources = [...new Set(contexts.map(({ source }) => source))];
  const rows = POLICIES.flatMap(([name, policyAt]) =>
    [false, true].map((isGapped): readonly string[] => {
      const measurable = contexts.filter(({ hasTexts = true }) => hasTexts || name !== ALONE);
      const perPrice = CACHE_READ_PRICES.map((read) => {
        const policy = policyAt(read);
        // With no gaps, a policy decides as if no cache ever went cold.
        const measured = measurable.map((context) => {
          const played = isGapped ? context : { ...context, gapsMs: [] };
          return { source: context.source, figures: measure(played, policy) };
        });
        const sessions = sources.map((source) =>
          sumFigures(measured.flatMap((each) => (each.source === source ? [each.figures] : []))),
        );
        const cost = (figures: Figures): number =>
          100 * shareOf(costRatio(figures, read, isGapped), 1);
        return {
          all: cost(sumFigures(sessions)).toFixed(1),
          dearest: Math.max(...sessions.map(cost)).toFixed(1),
        };
      });
      const cells = perPrice.flatMap(({ all, dearest }) => [all, dearest]);
      return [name, isGapped ? 'with gaps' : 'warm', ...cells];
    }),
  );
  const calls = contexts.reduce(
    (sum, { transcript }) => sum + transcript.entries.filter(isAnswer).length,
    0,
  );
  return {
    title: 'Cost of input',
    subtitle: `${sessionsText(contexts)}, ${numberText(calls)} model calls, everything sent as 100, writing to the cache ${WRITE_PRICE} times the input`,
    heads: [
      'policy',
      'cache',
      ...CACHE_READ_PRICES.flatMap((read) => [`reads at ${read}`, 'dearest session']),
    ],
    rows,
  };
}
