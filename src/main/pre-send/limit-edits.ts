// Leaves out what an edit would do before a place of the history. Calls and responses stay together: both
// go, or neither does. Looks at the entries that the edit names, and at no other.

import type { ContentBlock, IContent } from '../../shared/content.js';
import type {
  DensityResult,
  DensityResultMetadata,
  InclusionSyntax,
} from '../../shared/density.js';
import { findInclusions } from '../../shared/density/file-inclusions.js';
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
 * @param syntaxes the inclusions that the edit was made for, so that they can be told
 */
export function limitEdits(
  result: DensityResult,
  history: readonly IContent[],
  place: Place,
  syntaxes: readonly InclusionSyntax[] = ['delimited'],
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
    metadata: metadataOf(left, syntaxes),
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
  syntaxes: readonly InclusionSyntax[],
): DensityResultMetadata {
  const lost = (count: (entry: IContent) => number): number =>
    edits.reduce(
      (sum, { before, after }) => sum + count(before) - (after === undefined ? 0 : count(after)),
      0,
    );
  return {
    readWritePairsPruned: lost(({ blocks }) => blocks.filter(isCall).length),
    fileDeduplicationsPruned: lost(({ speaker, blocks }) =>
      speaker === 'human' ? findInclusions(blocks, syntaxes).length : 0,
    ),
    recencyPruned: edits.reduce((sum, { before, after }) => {
      const kept = new Set(before.blocks);
      const isNew = (block: ContentBlock): boolean => !kept.has(block) && isPlaceholder(block);
      return sum + (after?.blocks.filter(isNew).length ?? 0);
    }, 0),
  };
}

function isCall({ type }: ContentBlock): boolean {
  return type === 'tool_call';
}

function isPlaceholder(block: ContentBlock): boolean {
  return block.type === 'tool_response' && placeholderKind(block) !== 'none';
}
