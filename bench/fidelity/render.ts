// Prints a report as tables, and on request the places of the edits at risk.

import Table from 'cli-table3';
import type { EditAtRisk } from './measure.js';
import type { FidelityReport, GroupReport } from './report.js';

/** Characters of a line that are shown. */
const SHOWN_LINE_LENGTH = 60;

/** The report as text. `showPlaces` lists under each policy the edits whose text it took from view. */
export function renderFidelity({ groups, skipped }: FidelityReport, showPlaces: boolean): string {
  const [all, ...formats] = groups;
  // With one format, the table over all is that of the format.
  const shown = all === undefined ? [] : formats.length === 1 ? formats : [all, ...formats];
  return [
    ...shown.map(renderGroup),
    ...(showPlaces && all !== undefined ? [renderPlaces(all)] : []),
    ...(skipped.length === 0 ? [] : [`Skipped, no session of a known format: ${skipped.length}.`]),
  ].join('\n\n');
}

function renderGroup({ group, sessions, edits, unseenEdits, policies }: GroupReport): string {
  const calls = policies[0]?.modelCalls ?? 0;
  const table = new Table({
    head: ['policy', 'retained', 'saved', 'at risk', 're-reads', 'cache rewrites', 'calls per'],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  });
  for (const policy of policies) {
    const { atRisk, rereads, modelCalls, cacheRewrites } = policy;
    table.push([
      policy.policy,
      edits === 0 ? '–' : percent(policy.retained),
      percent(policy.saved),
      number(atRisk.length),
      number(rereads),
      number(cacheRewrites),
      cacheRewrites === 0 ? '–' : (modelCalls / cacheRewrites).toFixed(1),
    ]);
  }
  const title =
    `${group === 'all' ? 'All formats' : group}: ${number(sessions)} ${sessions === 1 ? 'session' : 'sessions'}, ${number(calls)} model calls, ` +
    `${number(edits)} edits of text in view (${number(unseenEdits)} of other text do not count). Tokens are estimates.`;
  return `${title}\n${table.toString()}`;
}

function renderPlaces({ policies }: GroupReport): string {
  return policies
    .filter(({ atRisk }) => atRisk.length > 0)
    .map(({ policy, atRisk }) => [`At risk, ${policy}:`, ...atRisk.map(renderPlace)].join('\n'))
    .join('\n\n');
}

function renderPlace({ source, entry, tool, file, lineCount, missing }: EditAtRisk): string {
  const first = (missing[0] ?? '').slice(0, SHOWN_LINE_LENGTH);
  return printable(
    `  ${source} entry ${entry} ${tool} ${file}: ${missing.length} of ${lineCount} lines, "${first}"`,
  );
}

/** Without the control characters by which a recorded text could steer the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}
