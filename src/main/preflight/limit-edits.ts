// Leaves out what an edit would do before a place of the history: out of a plan, before entries are made of it. Calls
// and responses stay together: both go, or neither does. Looks at the entries that the edit names, and at no others.

import type { ContentBlock, IContent } from '../../shared/content.js';
import type { DensityResult, PassSettings } from '../../shared/density.js';
import {
  madeBy,
  madeResult,
  materializeDensityPlan,
} from '../../shared/density/plan/materialize.js';
import { EMPTY_PLAN, PlanCursor, ROW_LENGTH } from '../../shared/density/plan/plan.js';
import type { DensityPlan } from '../../shared/density/plan/plan.js';
import { ACTION } from '../../shared/density/rules/marks.js';

/** A place in a history: before this block of this entry. */
export interface Place {
  readonly entry: number;
  readonly block: number;
}

/** What an edit does to one entry. */
interface EntryEdit {
  readonly index: number;
  /** Calls of which it takes anything away: the call, the response, or what shares their fate. */
  readonly lostCallIds: readonly string[];
}

/**
 * Returns the part of a plan that changes nothing before a place; the same object when that is all of it. Entries are
 * edited as a whole or not at all: one that would lose a call whose response has to stay is left as it is, or the
 * other way round.
 *
 * @param history the one that the plan was made for
 * @param settings what it was made by
 * @param texts those that it comes with
 */
export function limitPlan(
  plan: DensityPlan,
  history: readonly IContent[],
  place: Place,
  settings: PassSettings,
  texts: readonly string[] = [],
): DensityPlan {
  const held = heldEntries(editsOfPlan(plan, history), history, place, () => {
    const rows = rowsOf(plan, (entry) => entry === place.entry);
    return materializeDensityPlan(rows, history, settings, texts).replacements.get(place.entry);
  });
  return held.size === 0 ? plan : rowsOf(plan, (entry) => !held.has(entry));
}

/** As `limitPlan`, of what a strategy has returned. Without rows its metadata stay: what counts for what, only it knows. */
export function limitResult(
  result: DensityResult,
  history: readonly IContent[],
  place: Place,
  settings: PassSettings,
): DensityResult {
  const { replacements } = result;
  const edits = editedIndices(result).map((index) => {
    return { index, lostCallIds: lostCallIds(history[index], replacements.get(index)) };
  });
  const held = heldEntries(edits, history, place, () => replacements.get(place.entry));
  if (held.size === 0) return result;
  return partOfResult(result, (entry) => !held.has(entry), settings);
}

/** Returns the part of a plan that makes results smaller from an entry on, in entries to which it does nothing else. */
export function shrinkingPart(plan: DensityPlan, fromEntry: number): DensityPlan {
  const shrunk = shrunkEntries(plan, fromEntry);
  return rowsOf(plan, (entry) => shrunk.has(entry));
}

/** As `shrinkingPart`, of what a strategy has returned; nothing of what comes without rows. */
export function shrinkingPartOfResult(
  result: DensityResult,
  fromEntry: number,
  settings: PassSettings,
): DensityResult {
  const shrunk = shrunkEntries(result.rows ?? EMPTY_PLAN, fromEntry);
  return partOfResult(result, (entry) => shrunk.has(entry), settings);
}

function shrunkEntries(plan: DensityPlan, fromEntry: number): ReadonlySet<number> {
  const shrunk = new Set<number>();
  const others = new Set<number>();
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    if (row.entry < fromEntry) continue;
    (row.action === ACTION.shrink ? shrunk : others).add(row.entry);
  }
  for (const entry of others) shrunk.delete(entry);
  return shrunk;
}

function partOfResult(
  result: DensityResult,
  isWanted: (entry: number) => boolean,
  settings: PassSettings,
): DensityResult {
  const { metadata, rows } = result;
  const removals = result.removals.filter(isWanted);
  const replacements = new Map([...result.replacements].filter(([index]) => isWanted(index)));
  if (rows === undefined) return { removals, replacements, metadata };
  const { texts } = madeBy(result) ?? { texts: [] };
  return madeResult(rowsOf(rows, isWanted), { settings, texts }, removals, replacements);
}

/** The rows of some entries. */
function rowsOf(plan: DensityPlan, isWanted: (entry: number) => boolean): DensityPlan {
  const rows = new Int32Array(plan.length);
  let length = 0;
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    if (!isWanted(row.entry)) continue;
    rows.set(plan.subarray(row.offset, row.offset + ROW_LENGTH), length);
    length += ROW_LENGTH;
  }
  return rows.slice(0, length);
}

/** The indices of all entries that a result edits, ascending. */
function editedIndices({ removals, replacements }: DensityResult): readonly number[] {
  return [...removals, ...replacements.keys()].sort((a, b) => a - b);
}

function editsOfPlan(plan: DensityPlan, history: readonly IContent[]): readonly EntryEdit[] {
  const edits: EntryEdit[] = [];
  const row = new PlanCursor(plan);
  while (!row.isAtEnd) {
    const { entry: index } = row;
    const lost: string[] = [];
    for (; row.entry === index; row.next()) {
      const isDropped = row.action === ACTION.drop || row.action === ACTION.companion;
      const block = isDropped ? history[index]?.blocks[row.block] : undefined;
      const callId = block && callIdOf(block);
      if (callId !== undefined) lost.push(callId);
    }
    edits.push({ index, lostCallIds: lost });
  }
  return edits;
}

/**
 * The entries of edits that would change what stands before the place, and of those that share a call with one that is
 * held.
 *
 * @param afterAtPlace what the edit makes of the entry of the place; `undefined` when it removes it
 */
function heldEntries(
  edits: readonly EntryEdit[],
  history: readonly IContent[],
  place: Place,
  afterAtPlace: () => IContent | undefined,
): ReadonlySet<number> {
  const isBehind = ({ index }: EntryEdit): boolean => {
    if (index !== place.entry) return index > place.entry;
    if (place.block === 0) return true;
    const after = afterAtPlace();
    const kept = history[index]?.blocks.slice(0, place.block);
    return after !== undefined && kept?.every((block, at) => block === after.blocks[at]) === true;
  };
  const closed = edits.filter((edit) => !isBehind(edit));
  if (closed.length === 0) return new Set();
  const byCall = new Map<string, EntryEdit[]>();
  for (const edit of edits) {
    for (const callId of edit.lostCallIds) {
      const sharing = byCall.get(callId);
      if (sharing === undefined) byCall.set(callId, [edit]);
      else sharing.push(edit);
    }
  }
  // The list grows while it is walked.
  for (const { lostCallIds: callIds } of closed) {
    for (const callId of callIds) {
      closed.push(...(byCall.get(callId) ?? []));
      byCall.delete(callId);
    }
  }
  return new Set(closed.map(({ index }) => index));
}

/** An id may name several calls of one entry: it is lost when fewer blocks have it than before. */
function lostCallIds(before: IContent | undefined, after: IContent | undefined): readonly string[] {
  const lost = new Map<string, number>();
  const count = (blocks: readonly ContentBlock[], by: number): void => {
    for (const block of blocks) {
      const callId = callIdOf(block);
      if (callId !== undefined) lost.set(callId, (lost.get(callId) ?? 0) + by);
    }
  };
  count(before?.blocks ?? [], 1);
  count(after?.blocks ?? [], -1);
  return [...lost].flatMap(([callId, times]) => (times > 0 ? [callId] : []));
}

function callIdOf(block: ContentBlock): string | undefined {
  switch (block.type) {
    case 'tool_call':
      return block.id;
    case 'tool_response':
    case 'opaque':
      return block.callId;
    case 'text':
    case 'code':
    case 'thinking':
    case 'media':
      return undefined;
  }
}
