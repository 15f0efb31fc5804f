// Leaves out what an edit would do before a place of the history. Calls and responses stay together: both
// go, or neither does. Looks at the entries that the edit names, and at others only to tell which phase took what.

import type { ContentBlock, IContent } from '../../shared/content.js';
import type { DensityConfig, DensityResult, DensityResultMetadata } from '../../shared/density.js';
import { explainDensity } from '../../shared/density/explain/explain-density.js';
import { findInclusions } from '../../shared/density/index/file-inclusions.js';
import { placeholderKind } from '../../shared/summarize/placeholder.js';

/** A place in a history: before this block of this entry. */
export interface Place {
  readonly entry: number;
  readonly block: number;
}

/** One entry that an edit changes; `after` is `undefined` when it is removed. */
interface Edit {
  readonly index: number;
  readonly before: IContent;
  readonly after: IContent | undefined;
  /** Calls of which it takes anything away: the call, the response, or what shares their fate. */
  readonly lostCallIds: readonly string[];
}

/**
 * Returns the part of an edit of `history` that changes nothing before a place; the same object when
 * that is all of it. Entries are edited as a whole or not at all: one that would lose a call whose
 * response has to stay is left as it is, or the other way round. The metadata tells what is left.
 *
 * @param config what the edit was made by; it says which phase took what
 */
export function limitEdits(
  result: DensityResult,
  history: readonly IContent[],
  place: Place,
  config: DensityConfig,
): DensityResult {
  const edits = listEdits(result, history);
  const closed = edits.filter((edit) => !isBehind(edit, place));
  if (closed.length === 0) return result;
  const held = new Set(withPartners(closed, edits));
  const left = edits.filter((edit) => !held.has(edit));
  return {
    removals: left.flatMap(({ index, after }) => (after === undefined ? [index] : [])),
    replacements: new Map(
      left.flatMap(({ index, after }) => (after === undefined ? [] : [[index, after] as const])),
    ),
    metadata: metadataOf(left, history, config),
  };
}

function listEdits(
  { removals, replacements }: DensityResult,
  history: readonly IContent[],
): readonly Edit[] {
  const indices = [...removals, ...replacements.keys()].sort((a, b) => a - b);
  return indices.flatMap((index) => {
    const before = history[index];
    if (before === undefined) return [];
    const after = replacements.get(index);
    return [{ index, before, after, lostCallIds: lostCallIds(before, after) }];
  });
}

function isBehind({ index, before, after }: Edit, place: Place): boolean {
  if (index !== place.entry) return index > place.entry;
  if (place.block === 0) return true;
  if (after === undefined) return false;
  const kept = before.blocks.slice(0, place.block);
  return kept.every((block, at) => block === after.blocks[at]);
}

/** The edits that are held, and those that share a call with one that is. */
function withPartners(closed: readonly Edit[], edits: readonly Edit[]): readonly Edit[] {
  const byCall = new Map<string, Edit[]>();
  for (const edit of edits) {
    for (const callId of edit.lostCallIds) {
      const sharing = byCall.get(callId);
      if (sharing === undefined) byCall.set(callId, [edit]);
      else sharing.push(edit);
    }
  }
  const held = [...closed];
  // The list grows while it is walked.
  for (const { lostCallIds: callIds } of held) {
    for (const callId of callIds) {
      held.push(...(byCall.get(callId) ?? []));
      byCall.delete(callId);
    }
  }
  return held;
}

/** An id may name several calls of one entry: it is lost when fewer blocks have it than before. */
function lostCallIds(before: IContent, after: IContent | undefined): readonly string[] {
  const lost = new Map<string, number>();
  const count = (blocks: readonly ContentBlock[], by: number): void => {
    for (const block of blocks) {
      const callId = callIdOf(block);
      if (callId !== undefined) lost.set(callId, (lost.get(callId) ?? 0) + by);
    }
  };
  count(before.blocks, 1);
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

function metadataOf(
  edits: readonly Edit[],
  history: readonly IContent[],
  config: DensityConfig,
): DensityResultMetadata {
  const syntaxes = config.inclusionSyntaxes ?? ['delimited'];
  const lost = (count: (entry: IContent) => number): number =>
    sumOf(edits, ({ before, after }) => count(before) - (after === undefined ? 0 : count(after)));
  const lostCalls = lost(({ blocks }) => blocks.filter(isCall).length);
  const placeholders = sumOf(edits, (edit) => freshBlocks(edit).filter(isPlaceholder).length);
  const ofWorkingSet = workingSetEdits(edits, history, config, lostCalls);
  return {
    readWritePairsPruned: lostCalls - (ofWorkingSet?.calls ?? 0),
    fileDeduplicationsPruned: lost(({ speaker, blocks }) =>
      speaker === 'human' ? findInclusions(blocks, syntaxes).length : 0,
    ),
    recencyPruned: placeholders - (ofWorkingSet?.placeholders ?? 0),
    ...(ofWorkingSet !== undefined && { workingSetPruned: ofWorkingSet.responses }),
  };
}

/** What the working set took: calls, responses, and those of them that became a placeholder. */
interface WorkingSetEdits {
  readonly calls: number;
  readonly responses: number;
  readonly placeholders: number;
}

/** `undefined` where there is no working set. */
function workingSetEdits(
  edits: readonly Edit[],
  history: readonly IContent[],
  config: DensityConfig,
  lostCalls: number,
): WorkingSetEdits | undefined {
  if (config.workingSet === undefined) return undefined;
  const fresh = edits.flatMap(freshBlocks).filter(({ type }) => type === 'tool_response');
  if (lostCalls === 0 && (!config.recencyPruning || fresh.length === 0)) {
    return { calls: 0, responses: fresh.length, placeholders: fresh.filter(isPlaceholder).length };
  }
  // Phases leave the same traces: which of them it was takes their reasons, and a walk over the history.
  const { explain } = explainDensity(history, config);
  const taken = edits
    .flatMap(({ index }) => explain(index).blocks)
    .filter(({ rule, verdict }) => rule === 'working-set' && verdict !== 'kept');
  const calls = taken.filter(({ type }) => type === 'tool_call').length;
  return {
    calls,
    responses: taken.length - calls,
    placeholders: taken.filter(({ verdict }) => verdict === 'placeholder').length,
  };
}

/** The blocks that an edit puts in. */
function freshBlocks({ before, after }: Edit): readonly ContentBlock[] {
  if (after === undefined) return [];
  const kept = new Set(before.blocks);
  return after.blocks.filter((block) => !kept.has(block));
}

function sumOf(edits: readonly Edit[], of: (edit: Edit) => number): number {
  return edits.reduce((sum, edit) => sum + of(edit), 0);
}

function isCall({ type }: ContentBlock): boolean {
  return type === 'tool_call';
}

function isPlaceholder(block: ContentBlock): boolean {
  return block.type === 'tool_response' && placeholderKind(block) !== 'none';
}
