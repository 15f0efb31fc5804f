// Writes the figures of a report between the markers of a documentation page. Leaves the rest alone, and formats tables as
// Prettier does, so that an unchanged page has no diff.

import { posix } from 'node:path';
import type { EditAtRisk } from './measure.js';
import { BATCHED_POLICY, OWN_POLICY } from './policies.js';
import { needTable } from './needs-table.js';
import { distinctGroups, formatTable, LEGEND, policyTable } from './policy-table.js';
import type { TextTable } from './policy-table.js';
import { mainGroup } from './report.js';
import type { FidelityReport } from './report.js';

/**
 * Returns the page with these parts between their markers, `<!-- name -->` and `<!-- /name -->`. Throws a `RangeError` when the
 * page has no markers for one.
 */
export function withParts(page: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce((written, [name, part]) => {
    const [opening, closing] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const start = written.indexOf(opening);
    const end = written.indexOf(closing);
    if (start === -1 || end < start) {
      throw new RangeError(`Expected a page with ${opening} and, behind it, ${closing}.`);
    }
    return `${written.slice(0, start)}${[opening, part, ''].join('\n\n')}${written.slice(end)}`;
  }, page);
}

/** The figures of a report: all policies over several formats, the default by format. */
export function figuresPart(report: FidelityReport): string {
  const main = mainGroup(report);
  const tables = [
    ...distinctGroups(report)
      .filter(({ formats }) => formats.length > 1)
      .map((group) => policyTable(group)),
    formatTable(report, BATCHED_POLICY),
    ...(main === undefined ? [] : [needTable(main, BATCHED_POLICY)]),
  ];
  const titled = tables.map((table) => `### ${table.title}\n\n${tablePart(table)}`);
  return [listOf(LEGEND), ...titled, ...lostPart(report)].join('\n\n');
}

/** A table below its subtitle. */
export function tablePart({ subtitle, heads, rows, notes = [] }: TextTable): string {
  const widths = heads.map((head, at) =>
    Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string => {
    const padded = cells.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
    );
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, at) =>
    at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  const table = [heads, rule, ...rows].map(line).join('\n');
  return [`${subtitle}.`, table, ...(notes.length === 0 ? [] : [listOf(notes)])].join('\n\n');
}

function listOf(sentences: readonly string[]): string {
  return sentences.map((sentence) => `- ${sentence}`).join('\n');
}

/** The edits at risk under the default working set, with their places. */
function lostPart({ groups }: FidelityReport): readonly string[] {
  const lost = groups[0]?.policies.find(({ policy }) => policy === OWN_POLICY)?.atRisk ?? [];
  if (lost.length === 0) return [];
  return [`### Edits at risk, ${OWN_POLICY}`, lost.map(lostLine).join('\n')];
}

function lostLine({ source, entry, tool, file, lineCount, missing }: EditAtRisk): string {
  const place = `${code(posix.basename(source))}, entry ${entry}`;
  const edit = `${code(tool)} of ${code(posix.basename(file) || 'a file')}`;
  return `- ${place}, ${edit}: ${missing.length} of ${lineCount} lines`;
}

function code(text: string): string {
  return `\`${text.replace(/[`\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')}\``;
}
