// Leaves out what an edit would do before a place of the history: out of a plan, before entries are made of it. Calls
// and responses stay together: both go, or neither does. Looks at the entries that the edit names, and at no others.

import type { ContentBlock, IContent } from '../../shared/content.js';
import type { DensityResult, PassSettings } from '../../shared/density.js';
import { materializeDensityPlan } from '../../shared/density/plan/materialize.js';
import { PlanCursor } from '../../shared/density/plan/plan.js';
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
 */
export function limitPlan(
  plan: DensityPlan,
  history: readonly IContent[],
  place: Place,
  settings: PassSettings,
): DensityPlan {
  const edits = editsOfPlan(plan, history);
  const held = heldEdits(edits, history, place, ({ start, end }) => {
    const { replacements } = materializeDensityPlan(plan.subarray(start, end), history, settings);
    return replacements.get(place.entry);
  });
  if (held.size === 0) return plan;
  const left = edits.filter((edit) => !held.has(edit));
  const limited = new Int32Array(left.reduce((sum, { start, end }) => sum + end - start, 0));
  let at = 0;
  for (const { start, end } of left) {
    limited.set(plan.subarray(start, end), at);
    at += end - start;
  }
  return limited;
}

/** As `limitPlan`, of an edit that has no plan. Its metadata stay: what counts for what, only its maker knows. */
export function limitResult(
  result: DensityResult,
  history: readonly IContent[],
  place: Place,
): DensityResult {
  const { removals, replacements } = result;
  const edits = editedIndices(result).map((index) => {
    return { index, lostCallIds: lostCallIds(history[index], replacements.get(index)) };
  });
  const held = heldEdits(edits, history, place, ({ index }) => replacements.get(index));
  if (held.size === 0) return result;
  const heldIndices = new Set(Array.from(held, ({ index }) => index));
  return {
    ...result,
    removals: removals.filter((index) => !heldIndices.has(index)),
    replacements: new Map(Array.from(replacements).filter(([index]) => !heldIndices.has(index))),
  };
}

/** The indices of all entries that a result edits, ascending. */
function editedIndices({ removals, replacements }: DensityResult): readonly number[] {
  return [...removals, ...replacements.keys()].sort((a, b) => a - b);
}

/** By entry, its rows as offsets into the plan. */
function editsOfPlan(
  plan: DensityPlan,
  history: readonly IContent[],
): readonly (EntryEdit & { readonly start: number; readonly end: number })[] {
  const edits = [];
  const row = new PlanCursor(plan);
  while (!row.isAtEnd) {
    const { entry: index, offset: start } = row;
    const lost: string[] = [];
    for (; row.entry === index; row.next()) {
      const isDropped = row.action === ACTION.drop || row.action === ACTION.companion;
      const block = isDropped ? history[index]?.blocks[row.block] : undefined;
      const callId = block && callIdOf(block);
      if (callId !== undefined) lost.push(callId);
    }
    edits.push({ index, lostCallIds: lost, start, end: row.offset });
  }
  return edits;
}

/** The edits that would change what stands before the place, and those that share a call with one that is held. */
function heldEdits<Edit extends EntryEdit>(
  edits: readonly Edit[],
  history: readonly IContent[],
  place: Place,
  entryAfter: (edit: Edit) => IContent | undefined,
): ReadonlySet<Edit> {
  const isBehind = (edit: Edit): boolean => {
    if (edit.index !== place.entry) return edit.index > place.entry;
    if (place.block === 0) return true;
    const after = entryAfter(edit);
    const kept = history[place.entry]?.blocks.slice(0, place.block);
    return after !== undefined && kept?.every((block, at) => block === after.blocks[at]) === true;
  };
  const held = new Set(edits.filter((edit) => !isBehind(edit)));
  if (held.size === 0) return held;
  const byCall = new Map<string, Edit[]>();
  for (const edit of edits) {
    for (const callId of edit.lostCallIds) {
      const sharing = byCall.get(callId);
      if (sharing === undefined) byCall.set(callId, [edit]);
      else sharing.push(edit);
    }
  }
  // The set grows while it is walked.
  for (const { lostCallIds: callIds } of held) {
    for (const callId of callIds) {
      for (const partner of byCall.get(callId) ?? []) held.add(partner);
      byCall.delete(callId);
    }
  }
  return held;
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
