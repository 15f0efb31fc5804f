// Prints a report as tables, and optionally the places of the edits at risk.

import Table from 'cli-table3';
import type { EditAtRisk } from './measure.js';
import { needTables } from './needs-table.js';
import { distinctGroups, LEGEND, policyTable } from './policy-table.js';
import type { TextTable } from './policy-table.js';
import { mainGroup } from './report.js';
import type { FidelityReport, GroupReport } from './report.js';

/** Maximum characters shown of a line. */
const SHOWN_LINE_LENGTH = 60;

/** The report as text. `showPlaces` lists the edits at risk under each policy. */
export function renderFidelity(report: FidelityReport, showPlaces: boolean): string {
  const { groups, skipped } = report;
  const [all] = groups;
  const main = mainGroup(report);
  return [
    ...distinctGroups(report).map((group) => renderTable(policyTable(group))),
    ...(main === undefined ? [] : needTables(main).map(renderTable)),
    ...(showPlaces && all !== undefined ? [renderPlaces(all)] : []),
    LEGEND.join('\n'),
    ...(skipped.length === 0 ? [] : [`Skipped, no session of a known format: ${skipped.length}.`]),
  ].join('\n\n');
}

/** Formats a table for a terminal. */
export function renderTable({ title, subtitle, heads, rows, notes = [] }: TextTable): string {
  const table = new Table({
    head: [...heads],
    colAligns: heads.map((_, at) => (at === 0 ? 'left' : 'right')),
    style: { head: [], border: [], compact: true, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => [...row]));
  return [`${title}: ${subtitle}`, table.toString(), ...notes].join('\n');
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

/** Removes control characters, with which recorded text could control the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
