// Describes an edit of a history as a journal record, from which the edit can be replayed on the same entries. Reads only the
// changed entries, and results that they refer to; changes nothing.

import { hasSubstance } from '../content.js';
import type { ContentBlock, IContent } from '../content.js';
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

/** Describes an edit as rows; `undefined` if rows cannot describe all of it. */
function describeRows(
  at: number,
  former: readonly IContent[],
  result: DensityResult,
): JournalRecord | undefined {
  const { removals, replacements, rows: plan = EMPTY_PLAN } = result;
  const by = planInputsOf(result);
  const rows: number[] = [];
  const shown: (readonly ShownEarlier[])[] = [];
  const checksums: number[] = [];
  let newResults = 0;
  const row = new PlanCursor(plan);
  for (const entry of Int32Array.from([...removals, ...replacements.keys()]).sort()) {
    const { speaker, blocks: before } = former[entry] as IContent;
    const after = replacements.get(entry);
    const left = after?.blocks ?? [];
    const isPlanned = row.entry === entry;
    const [firstRow, firstResult] = [rows.length, newResults];
    for (let block = 0; block < before.length; block += 1) {
      const content = before[block] as ContentBlock;
      for (; row.entry === entry && row.block === block; row.next()) {
        const { action, rule, start, end } = row;
        if (replacesResult(action)) newResults += 1;
        if (action !== ACTION.shrink) {
          rows.push(entry, block, action, rule, start, end);
          continue;
        }
        const runs = by?.texts[end];
        const above = runs === undefined ? [] : findShown(former, entry, runs);
        if (above === undefined) return undefined;
        rows.push(entry, block, action, rule, shown.push(above) - 1, -1);
      }
      // Reasoning goes because of an edit before it.
      if (content.type === 'thinking' && !left.includes(content))
        rows.push(entry, block, ACTION.drop, NO_RULE, -1, -1);
    }
    // Rows remove what they leave without substance, unless it is the user's.
    const isDescribed =
      isPlanned ||
      (after === undefined
        ? speaker !== 'human' && !before.some(hasSubstance)
        : isWithoutReasoning(left, before));
    if (rows.length === firstRow || !isDescribed) return undefined;
    if (firstResult === newResults) continue;
    const known = new Set(before);
    for (const content of left) {
      if (content.type !== 'tool_response' || known.has(content)) continue;
      if (typeof content.result !== 'string') return undefined;
      checksums.push(checksumOfResult(content.result));
    }
  }
  if (!row.isAtEnd || checksums.length !== newResults) return undefined;
  return { kind: 'rows', at, rows: new Int32Array(rows), shown, checksums };
}

/** Whether an entry lost nothing but reasoning. */
function isWithoutReasoning(
  left: readonly ContentBlock[],
  before: readonly ContentBlock[],
): boolean {
  const others = before.filter((block) => block.type !== 'thinking' || left.includes(block));
  return others.length === left.length && others.every((block, at) => block === left[at]);
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
