// The figures of some sessions as a title, heads and rows of text, for terminals and pages alike.

import { CACHE_READ_PRICE, CACHE_WRITE_PRICE, TAIL_TOKENS } from './context-meter.js';
import type { FidelityReport, GroupReport, PolicyReport } from './report.js';

/** A table; the first column holds names, all others numbers. */
export interface PolicyTable {
  readonly title: string;
  /** What the table counts. */
  readonly subtitle: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

interface Column {
  readonly head: string;
  readonly cell: (policy: PolicyReport) => string;
}

const NONE = '–';

const COLUMNS: readonly Column[] = [
  { head: 'policy', cell: ({ policy }) => policy },
  {
    head: 'retained',
    cell: ({ edits, retained }) => (edits === 0 ? NONE : percentText(retained)),
  },
  { head: 'saved', cell: ({ saved }) => percentText(saved) },
  { head: 'at risk', cell: ({ atRisk }) => numberText(atRisk.length) },
  { head: 're-reads', cell: ({ rereads }) => numberText(rereads) },
  { head: 'rewrites', cell: ({ cacheRewrites }) => numberText(cacheRewrites) },
  {
    head: 'calls/rewrite',
    cell: ({ modelCalls, cacheRewrites }) =>
      cacheRewrites === 0 ? NONE : (modelCalls / cacheRewrites).toFixed(1),
  },
  { head: 'cost', cell: ({ cost }) => percentText(cost) },
];

/** What the columns mean, one sentence each. */
export const LEGEND: readonly string[] = [
  'Retained: of the edits, the share whose text was still in view.',
  'Saved: input tokens that were not sent; tokens are estimates.',
  'Re-reads: files that the agent would have had to read again, once for each call that edits them.',
  `Rewrites: calls before which the context changed more than ${numberText(TAIL_TOKENS)} tokens before the end of what was sent.`,
  `Cost: of the input, with everything kept as 100 %; what a prompt cache answers at ${CACHE_READ_PRICE}, all else at ${CACHE_WRITE_PRICE}.`,
];

/** The table of a group. */
export function policyTable(group: GroupReport): PolicyTable {
  const calls = numberText(group.policies[0]?.modelCalls ?? 0);
  const sessions = `${numberText(group.sessions)} ${group.sessions === 1 ? 'session' : 'sessions'}`;
  return {
    title: group.group === 'all' ? 'All formats' : group.group,
    subtitle:
      `${sessions}, ${calls} model calls, ${numberText(group.edits)} edits of text in view ` +
      `(${numberText(group.unseenEdits)} of other text do not count)`,
    heads: COLUMNS.map(({ head }) => head),
    rows: group.policies.map((policy) => COLUMNS.map(({ cell }) => cell(policy))),
  };
}

/** The groups worth a table: of several groups with the same sessions, the one that says most about them. */
export function distinctGroups({ groups }: FidelityReport): readonly GroupReport[] {
  return groups.filter(
    ({ formats }, at) =>
      !groups.slice(at + 1).some((later) => later.formats.join() === formats.join()),
  );
}

/** A share as text, such as `97.3 %`. */
export function percentText(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** A number with its thousands told apart. */
export function numberText(value: number): string {
  return value.toLocaleString('en');
}
