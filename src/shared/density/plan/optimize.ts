// The density pass: feeds a history to an index, has the phases mark its rows, and writes what they
// marked into one plan. `optimize` is the documented form of the same pass.

import type { IContent } from '../../content.js';
import type { DensityConfig, DensityResult, PassSettings } from '../../density.js';
import { NONE, RESULT_MARK } from '../index/history-columns.js';
import type { InclusionColumns } from '../index/history-columns.js';
import { HistoryIndex } from '../index/history-index.js';
import { scopeOfPass } from '../index/index-scope.js';
import { IntColumn } from '../index/int-column.js';
import { markHistory } from '../rules/mark-history.js';
import type { HistoryMarks } from '../rules/mark-history.js';
import { materializeDensityPlan } from './materialize.js';
import type { DensityPlan } from './plan.js';
import { assertWorkingSetRules } from '../rules/working-set-rules.js';

/**
 * Finds what is stale in a history and returns the edits that remove it. Never changes its input;
 * deterministic; of no effect on its own output; linear in entries. No payload is read that is not
 * replaced.
 *
 * @throws RangeError for rules of a working set that are none.
 */
export function optimize(history: readonly IContent[], config: DensityConfig): DensityResult {
  return materializeDensityPlan(planDensity(history, config), history, config.placeholder);
}

/** Plans a density pass on a whole history. */
export function planDensity(history: readonly IContent[], config: DensityConfig): DensityPlan {
  if (config.workingSet !== undefined) assertWorkingSetRules(config.workingSet);
  const index = new HistoryIndex(scopeOfPass(config));
  for (const entry of history) index.append(entry);
  return planIndexed(index, config);
}

/** Plans a density pass on what an index holds, whose scope covers what the settings ask for. */
export function planIndexed(index: HistoryIndex, config: PassSettings): DensityPlan {
  return planMarked(index, markHistory(index, config));
}

/** Writes what the phases marked in an index into a plan. */
export function planMarked(
  { calls, responses, inclusions }: HistoryIndex,
  { stale, superseded, results, metadata }: HistoryMarks,
): DensityPlan {
  const stalePairs = mergePlaces(
    markedPlaces(calls, stale.calls),
    markedPlaces(responses, stale.responses),
  );
  return {
    drops: mergePlaces(stalePairs, supersededBlocks(inclusions, superseded)),
    pointers: markedPlaces(responses, results, RESULT_MARK.pointer),
    excerpts: markedPlaces(responses, results, RESULT_MARK.excerpt),
    cuts: supersededRanges(inclusions, superseded),
    metadata,
  };
}

/** Entry and block of every row that has that mark. */
function markedPlaces(
  rows: { readonly entry: IntColumn; readonly block: IntColumn },
  marks: Uint8Array,
  mark: number = 1,
): Int32Array {
  const places = new IntColumn();
  for (let row = 0; row < marks.length; row += 1) {
    if (marks[row] !== mark) continue;
    places.push(rows.entry.at(row));
    places.push(rows.block.at(row));
  }
  return places.toArray();
}

/** Merges two ascending lists of places that have no entry in common. */
function mergePlaces(a: Int32Array, b: Int32Array): Int32Array {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const merged = new Int32Array(a.length + b.length);
  let fromA = 0;
  let fromB = 0;
  for (let at = 0; at < merged.length; at += 2) {
    const takesA = (a[fromA] ?? Infinity) < (b[fromB] ?? Infinity);
    const source = takesA ? a : b;
    const from = takesA ? fromA : fromB;
    merged[at] = source[from] ?? 0;
    merged[at + 1] = source[from + 1] ?? 0;
    if (takesA) fromA += 2;
    else fromB += 2;
  }
  return merged;
}

function supersededRanges(inclusions: InclusionColumns, marks: Uint8Array): Int32Array {
  const cuts = new IntColumn();
  for (let row = 0; row < marks.length; row += 1) {
    if (marks[row] !== 1 || inclusions.start.at(row) === NONE) continue;
    cuts.push(inclusions.entry.at(row));
    cuts.push(inclusions.block.at(row));
    cuts.push(inclusions.start.at(row));
    cuts.push(inclusions.end.at(row));
  }
  return cuts.toArray();
}

/** The blocks of superseded whole-block inclusions; a group that loses all of them loses its frame too. */
function supersededBlocks(inclusions: InclusionColumns, marks: Uint8Array): Int32Array {
  const drops = new IntColumn();
  const drop = (entry: number, block: number): void => {
    drops.push(entry);
    drops.push(block);
  };
  for (let row = 0; row < inclusions.length; row += 1) {
    const open = inclusions.groupOpen.at(row);
    if (open === NONE) continue;
    const entry = inclusions.entry.at(row);
    let end = row;
    while (inclusions.entry.at(end) === entry && inclusions.groupOpen.at(end) === open) end += 1;
    const losesAll = marks.subarray(row, end).every((mark) => mark === 1);
    if (losesAll) drop(entry, open);
    for (; row < end; row += 1) {
      if (marks[row] !== 1) continue;
      drop(entry, inclusions.block.at(row));
      drop(entry, inclusions.block.at(row) + 1);
    }
    row -= 1;
    if (losesAll) drop(entry, inclusions.groupClose.at(row));
  }
  return drops.toArray();
}
