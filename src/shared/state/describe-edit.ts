// Describes an edit of a history as a journal record, from which the edit can be replayed on the same entries. Reads only the
// changed entries, and results that they refer to; changes nothing.

import { hasSubstance } from '../content.js';
import type { IContent } from '../content.js';
import type { DensityResult } from '../density.js';
import { planInputsOf } from '../density/plan/materialize.js';
import { EMPTY_PLAN, PlanCursor } from '../density/plan/plan.js';
import { ACTION } from '../density/rules/marks.js';
import type { ShownElsewhere, Source } from '../shrink/shown-before.js';
import { describeChanges } from './describe-splice.js';
import { checksumOfResult, replacesResult, rowSettings, NO_RULE } from './journal-record.js';
import type { JournalRecord, RowSettings, ShownEarlier } from './journal-record.js';

/** How far back, in entries, to search for a result that another one refers to. No reference leads farther back. */
const MAX_ENTRIES_BACK = 20_000;

/** The settings with which the rows of an edit were made; `undefined` if the edit has no rows. */
export function rowSettingsOf(result: DensityResult): RowSettings | undefined {
  const by = planInputsOf(result);
  return by && rowSettings(by.settings);
}

/**
 * Describes an edit.
 *
 * @param at number of entries added to the history so far
 * @param former the history before the edit
 */
export function describeEdit(
  at: number,
  former: readonly IContent[],
  result: DensityResult,
): JournalRecord {
  return describeRows(at, former, result) ?? describeChanges(at, former, result);
}

type Row = readonly [
  entry: number,
  block: number,
  action: number,
  rule: number,
  start: number,
  end: number,
];

/** Describes an edit as rows; `undefined` if rows cannot describe all of it. */
function describeRows(
  at: number,
  former: readonly IContent[],
  result: DensityResult,
): JournalRecord | undefined {
  const { rows: given = EMPTY_PLAN } = result;
  const by = planInputsOf(result);
  const shown: (readonly ShownEarlier[])[] = [];
  const rows: Row[] = [];
  const named = new Set<number>();
  for (const row of rowsOf(given)) {
    const [entry, block, action, rule, , end] = row;
    named.add(entry);
    if (action !== ACTION.shrink) {
      rows.push(row);
      continue;
    }
    const runs = by?.texts[end];
    const above = runs === undefined ? [] : findShown(former, entry, runs);
    if (above === undefined) return undefined;
    rows.push([entry, block, action, rule, shown.push(above) - 1, -1]);
  }
  const strips = stripRows(former, result, named);
  if (strips === undefined) return undefined;
  rows.push(...strips);
  if (strips.length > 0) rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const checksums = checksumsOf(rows, former, result);
  if (checksums === undefined) return undefined;
  return { kind: 'rows', at, rows: Int32Array.from(rows.flat()), shown, checksums };
}

/** Returns the checksums of the new results, in order; `undefined` if these are not the results that the rows produce. */
function checksumsOf(
  rows: readonly Row[],
  former: readonly IContent[],
  { replacements }: DensityResult,
): readonly number[] | undefined {
  const checksums: number[] = [];
  let expected = 0;
  let last = -1;
  for (const [entry, , action] of rows) {
    if (!replacesResult(action)) continue;
    expected += 1;
    if (entry === last) continue;
    last = entry;
    const before = former[entry]?.blocks ?? [];
    for (const block of replacements.get(entry)?.blocks ?? []) {
      if (block.type !== 'tool_response' || before.includes(block)) continue;
      if (typeof block.result !== 'string') return undefined;
      checksums.push(checksumOfResult(block.result));
    }
  }
  return checksums.length === expected ? checksums : undefined;
}

function* rowsOf(plan: Int32Array): Generator<Row, void, undefined> {
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    yield [row.entry, row.block, row.action, row.rule, row.start, row.end];
  }
}

/** Rows for reasoning that the edit dropped; `undefined` if the edit made any other change in an entry that no row names. */
function stripRows(
  former: readonly IContent[],
  { removals, replacements }: DensityResult,
  named: ReadonlySet<number>,
): readonly Row[] | undefined {
  const rows: Row[] = [];
  const strip = (index: number, after: IContent | undefined): boolean => {
    const entry = former[index];
    const before = entry?.blocks ?? [];
    const left = after?.blocks ?? [];
    const kept = before.filter((block, place) => {
      if (block.type !== 'thinking' || left.includes(block)) return true;
      rows.push([index, place, ACTION.drop, NO_RULE, -1, -1]);
      return false;
    });
    if (named.has(index)) return true;
    if (kept.length === before.length) return false;
    // Rows remove what they leave without substance, unless it is the user's.
    if (after === undefined) return entry?.speaker !== 'human' && !kept.some(hasSubstance);
    return kept.length === left.length && kept.every((block, at) => block === left[at]);
  };
  for (const index of removals) if (!strip(index, undefined)) return undefined;
  for (const [index, after] of replacements) if (!strip(index, after)) return undefined;
  return rows;
}

/** Locates the results that a shrunk result refers to; `undefined` if one is missing. */
function findShown(
  former: readonly IContent[],
  entry: number,
  json: string,
): readonly ShownEarlier[] | undefined {
  const runs = JSON.parse(json) as readonly (ShownElsewhere & { readonly source: Source })[];
  const found: ShownEarlier[] = [];
  for (const { source, ...lines } of runs) {
    const place = findResponse(former, entry, source.callId);
    if (place === undefined) return undefined;
    found.push({ ...lines, ...place });
  }
  return found;
}

function findResponse(
  history: readonly IContent[],
  entry: number,
  callId: string,
): Pick<ShownEarlier, 'entriesBack' | 'block'> | undefined {
  for (let back = 0; back <= Math.min(entry, MAX_ENTRIES_BACK); back += 1) {
    const blocks = history[entry - back]?.blocks ?? [];
    const block = blocks.findLastIndex(
      (other) => other.type === 'tool_response' && other.callId === callId,
    );
    if (block >= 0) return { entriesBack: back, block };
  }
  return undefined;
}
