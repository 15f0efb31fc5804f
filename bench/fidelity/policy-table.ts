// The figures of some sessions as title, heads and rows of text, for terminals and pages.

import {
  CACHE_LIFETIME_MS,
  CACHE_READ_PRICE,
  CACHE_READ_PRICES,
  CACHE_WRITE_PRICE,
  TAIL_TOKENS,
} from './context-meter.js';
import { STAY_CALLS } from './reading-again.js';
import type { RecordedSession } from './recorded-session.js';
import type { FidelityReport, GroupReport, PolicyReport } from './report.js';
import {
  costRatio,
  NEED_GROUPS,
  netCostRatio,
  netSavedShare,
  outcomeRatio,
  shareOf,
} from './shares.js';
import type { NeedGroup } from './shares.js';

/** The first column holds names, the others numbers. */
export interface TextTable {
  readonly title: string;
  /** The subject of the counts. */
  readonly subtitle: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Sentences behind the table. */
  readonly notes?: readonly string[];
}

interface Column {
  readonly head: string;
  readonly cell: (policy: PolicyReport) => string;
}

const NONE = '–';

const COLUMNS: readonly Column[] = [
  { head: 'policy', cell: ({ policy }) => policy },
  inViewColumn('edits', 'edits'),
  inViewColumn('ids', 'identifiers'),
  inViewColumn('quotes', 'quotes'),
  { head: 'saved', cell: ({ saved }) => points(saved) },
  { head: 'net', cell: (policy) => points(netSavedShare(policy)) },
  { head: 'rewrites', cell: ({ cacheRewrites }) => numberText(cacheRewrites) },
  ...CACHE_READ_PRICES.map((price): Column => {
    return {
      head: price === CACHE_READ_PRICE ? 'cost' : `${price}`,
      cell: (policy) => points(shareOf(costRatio(policy, price, false), 1)),
    };
  }),
  {
    head: 'gaps',
    cell: (policy) => points(shareOf(costRatio(policy, CACHE_READ_PRICE, true), 1)),
  },
  { head: 'net', cell: (policy) => points(shareOf(netCostRatio(policy), 1)) },
];

/** The columns and their meaning, one sentence each. All are percentages. */
export const LEGEND: readonly string[] = [
  'Edits, ids, quotes: what stayed in view of the edits, of the identifiers that other calls were the first to use (by idf), and of the quotes.',
  'Saved: input tokens that were not sent; tokens are estimates. Net: the same when all that was used and is not in view is read again, ' +
    `for one more call and its tokens for ${STAY_CALLS} calls.`,
  `Rewrites: calls before which the context changed more than ${numberText(TAIL_TOKENS)} tokens before the end of what was sent.`,
  `Cost: of the input, with everything kept as 100; what a prompt cache answers at ${CACHE_READ_PRICES.join(', ')}, all else at ${CACHE_WRITE_PRICE}. ` +
    `Gaps: the first of them when the cache is cold ${CACHE_LIFETIME_MS / 60_000} minutes after it was asked. Net: when all that was used is read again.`,
];

function inViewColumn(head: string, group: NeedGroup): Column {
  return {
    head,
    cell: (policy) => {
      const share = shareOf(outcomeRatio(policy, NEED_GROUPS[group], 'inView'), NaN);
      return Number.isNaN(share) ? NONE : points(share);
    },
  };
}

/** The table of a group. */
export function policyTable(group: GroupReport): TextTable {
  const calls = numberText(group.policies[0]?.modelCalls ?? 0);
  const sessions = `${numberText(group.sessions)} ${group.sessions === 1 ? 'session' : 'sessions'}`;
  const cut = group.contexts === group.sessions ? '' : ` in ${numberText(group.contexts)} contexts`;
  return {
    title: group.group === 'all' ? 'All formats' : group.group,
    subtitle:
      `${sessions}${cut}, ${calls} model calls, ${numberText(group.edits)} edits of text in view ` +
      `(${numberText(group.unseenEdits)} of other text do not count)`,
    heads: COLUMNS.map(({ head }) => head),
    rows: group.policies.map((policy) => COLUMNS.map(({ cell }) => cell(policy))),
  };
}

/** One policy by format, with the columns of `policyTable`. */
export function formatTable({ groups }: FidelityReport, name: string): TextTable {
  const rows = groups.flatMap(({ formats, policies }) => {
    const [format = '', ...others] = formats;
    const policy = policies.find((each) => each.policy === name);
    if (others.length > 0 || policy === undefined) return [];
    return [COLUMNS.map(({ cell }, at) => (at === 0 ? format : cell(policy)))];
  });
  return {
    title: `By format, ${name}`,
    subtitle: 'Compared with everything kept in the same sessions',
    heads: COLUMNS.map(({ head }, at) => (at === 0 ? 'format' : head)),
    rows,
  };
}

/** A few policies on several sets of sessions, by the names of the sets, with everything kept as 100. */
export function shortTable(
  reports: Readonly<Record<string, FidelityReport>>,
  names: readonly string[],
): TextTable {
  const heads = ['saved', 'cost', 'edits', 'quotes'];
  const columns = heads.map((head) => COLUMNS.find((column) => column.head === head)!);
  const sets = Object.entries(reports).flatMap(([set, { groups }]) =>
    groups.slice(0, 1).map((group) => ({ set, group })),
  );
  return {
    title: 'In short',
    subtitle: sets.map(({ set, group }) => `${numberText(group.sessions)} ${set}`).join(', '),
    heads: ['policy', ...heads],
    rows: sets.flatMap(({ set, group: { policies } }) =>
      names.map((name) => {
        const policy = policies.find((each) => each.policy === name)!;
        return [`${set}: ${name}`, ...columns.map(({ cell }) => cell(policy))];
      }),
    ),
  };
}

/** The groups worth a table: if several groups have the same sessions, only the most informative one. */
export function distinctGroups({ groups }: FidelityReport): readonly GroupReport[] {
  return groups.filter(
    ({ formats }, at) =>
      !groups.slice(at + 1).some((later) => later.formats.join() === formats.join()),
  );
}

/** A share in percent, such as `97.3`. */
function points(share: number): string {
  return (100 * share).toFixed(1);
}

/** A share as text, such as `97.3 %`. */
export function percentText(share: number): string {
  return `${points(share)} %`;
}

/** How many sessions these are, such as `43 sessions`. */
export function sessionsText(contexts: readonly RecordedSession[]): string {
  const count = new Set(contexts.map(({ source }) => source)).size;
  return `${numberText(count)} ${count === 1 ? 'session' : 'sessions'}`;
}

/** A number with thousands separators. */
export function numberText(value: number): string {
  return value.toLocaleString('en');
}
