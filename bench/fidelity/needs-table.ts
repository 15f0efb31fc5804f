// A table of needs by kind: their outcomes under a policy, and the lift over chance.

import { NEED_KINDS } from './needs/need.js';
import type { NeedKind } from './needs/need.js';
import type { GroupReport, LiftOfKind } from './report.js';
import { outcomeRatio, shareOf } from './shares.js';
import type { TextTable } from './policy-table.js';

const NAMES: Readonly<Record<NeedKind, string>> = {
  edit: 'edits',
  'id-edit': 'identifiers, edits',
  'id-read': 'identifiers, reads',
  'id-search': 'identifiers, searches',
  'id-command': 'identifiers, commands',
  'id-other': 'identifiers, other calls',
  quote: 'quotes',
  error: 'open errors',
  words: 'user’s words',
};

/** One table for each own policy of the group. */
export function needTables(group: GroupReport): readonly TextTable[] {
  const own = [...new Set(group.lifts.map(({ policy }) => policy))];
  return own.map((name) => needTable(group, name));
}

/** The table of an own policy of the group. */
export function needTable(group: GroupReport, name: string): TextTable {
  const figures = group.policies.find(({ policy }) => policy === name);
  const lifts = group.lifts.filter(({ policy }) => policy === name);
  return {
    title: `What stays in view, ${name}`,
    subtitle: 'Intervals of 95 % over sessions',
    heads: ['need', 'weight', 'in view', 'interval', 'recoverable', 'lost', ...lifts.map(overHead)],
    rows: NEED_KINDS.flatMap((kind) => {
      const first = lifts[0]?.kinds[kind];
      if (figures === undefined || first === undefined) return [];
      const share = (outcome: 'recoverable' | 'lost'): string =>
        points(shareOf(outcomeRatio(figures, [kind], outcome), 0));
      return [
        [
          NAMES[kind],
          Math.round(outcomeRatio(figures, [kind], 'inView').whole).toLocaleString('en'),
          points(first.inView),
          `${points(first.inViewInterval.low)}–${points(first.inViewInterval.high)}`,
          share('recoverable'),
          share('lost'),
          ...lifts.map(({ kinds }) => liftText(kinds[kind])),
        ],
      ];
    }),
  };
}

function overHead({ over }: { readonly over: string }): string {
  return `over ${over.split(',')[0] ?? over}`;
}

function liftText(kind: LiftOfKind | undefined): string {
  if (kind === undefined) return '–';
  const { lift, liftInterval } = kind;
  return `${signed(lift)} (${signed(liftInterval.low)}…${signed(liftInterval.high)})`;
}

function points(share: number): string {
  return (100 * share).toFixed(1);
}

function signed(share: number): string {
  return `${share < 0 ? '−' : '+'}${points(Math.abs(share))}`;
}
