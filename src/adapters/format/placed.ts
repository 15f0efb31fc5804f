// Helpers for the blocks of all formats: assigns origins, finds by origin which blocks of a message the edits of a history have
// left, and joins texts.

import { isBlank } from '../../shared/content.js';
import type { ContentBlock, IContent, ToolCallBlock } from '../../shared/content.js';
import { orphanedReasoning } from '../../shared/density/plan/materialize.js';
import type { Origin, PartEdits, PlacedBlock } from './message-format.js';
import { isPinned } from './message-place.js';

/** Returns the block with its origin: the index of its message in the conversation, and of its part in the message. */
export function placed(block: ContentBlock, message: number, part: number): PlacedBlock {
  return { ...block, origin: [message, part] };
}

/** Returns blocks with their origins, if they are the parts of a message in order. */
export function placedInOrder(
  blocks: readonly ContentBlock[],
  message: number,
): readonly PlacedBlock[] {
  return blocks.map((block, part) => placed(block, message, part));
}

export function isPlaced(block: ContentBlock): block is PlacedBlock {
  return 'origin' in block;
}

/**
 * Returns the `parallelGroup` of a step's calls if they depend on the first one: Gemini signs only the first call, and requires its
 * signature as long as any of the others is sent.
 *
 * @param signed whether each call has a signature
 * @param step position of the step as its name, because ids of calls may repeat
 */
export function groupOfCalls(
  signed: readonly boolean[],
  step: number | string,
): Pick<ToolCallBlock, 'parallelGroup'> {
  return signed[0] === true && signed.includes(false) ? { parallelGroup: `#${step}` } : {};
}

/** Marks a call whose parameters cannot be changed. A signature covers them, or a format has no way to. */
export function fixedIf(isFixed: boolean): Pick<ToolCallBlock, 'hasFixedParameters'> {
  return isFixed ? { hasFixedParameters: true } : {};
}

export function textsOf(blocks: readonly ContentBlock[]): readonly string[] {
  return blocks.flatMap((block) => (block.type === 'text' ? block.text : []));
}

/** Joins the texts of blocks, as paragraphs. */
export function joinTexts(blocks: readonly ContentBlock[]): string {
  return textsOf(blocks).join('\n\n');
}

/** Messages or entries processed between two yields, which takes some tenths of a millisecond. */
export const PER_SLICE = 64;

/** Which messages the edits of a history have changed. */
export interface ChangedMessages {
  /** By index of the message, 1 if exactly its remaining blocks are in the history, in the same order. */
  readonly isUnchanged: Uint8Array;
  /** The blocks in the history of all other messages, by origin. */
  readonly blocks: ReadonlyMap<Origin, PlacedBlock>;
  /** Whether the history has entries that come from no message. */
  readonly hasWritten: boolean;
}

/** Compares a history with the remaining blocks of messages, in slices. */
export function* findChangedMessages(
  messages: readonly { readonly remaining: readonly PlacedBlock[] }[],
  history: readonly IContent[],
): Generator<void, ChangedMessages, undefined> {
  /** By index of the message, how many of its blocks have matched so far; -1 after a mismatch. */
  const matched = new Int32Array(messages.length);
  let hasWritten = false;
  // By index: `entries()` would allocate a pair for each entry.
  for (let number = 0; number < history.length; number += 1) {
    if (number % PER_SLICE === 0) yield;
    const { blocks } = history[number] as IContent;
    hasWritten ||= blocks.length > 0 && !blocks.some(isPlaced);
    for (const block of blocks) {
      if (!isPlaced(block)) continue;
      const [message] = block.origin;
      const at = matched[message] ?? -1;
      if (at >= 0) matched[message] = messages[message]?.remaining[at] === block ? at + 1 : -1;
    }
  }
  const isUnchanged = Uint8Array.from(messages, ({ remaining }, at) =>
    matched[at] === remaining.length ? 1 : 0,
  );
  const changed = new Map<Origin, PlacedBlock>();
  for (let number = 0; number < history.length; number += 1) {
    if (number % PER_SLICE === 0) yield;
    for (const block of (history[number] as IContent).blocks) {
      if (isPlaced(block) && isUnchanged[block.origin[0]] === 0) changed.set(block.origin, block);
    }
  }
  return { isUnchanged, blocks: changed, hasWritten };
}

/**
 * Returns the edits of a message; `null` if nothing of it remains. Compares `parts` and `remaining` in one pass, because they are in
 * the same order. Removes what providers reject: texts of which an edit has left white space, and reasoning whose consequences are all
 * removed.
 *
 * @param isOrphan whether a remaining block must be removed, too
 */
export function editsOf(
  record: { readonly parts: readonly PlacedBlock[]; readonly remaining: readonly PlacedBlock[] },
  isOrphan: (block: PlacedBlock) => boolean,
): PartEdits | null {
  const { parts, remaining } = record;
  const edits = new Map<number, ContentBlock | null>();
  let next = 0;
  for (const block of parts) {
    const found = remaining[next];
    const remains = found?.origin === block.origin;
    if (remains) next += 1;
    const isKept = remains && (found === block || !isBlankText(found)) && !isOrphan(found);
    if (!isKept) edits.set(block.origin[1], null);
    else if (found !== block) edits.set(block.origin[1], found);
  }
  const isRemoved = ({ origin }: PlacedBlock): boolean => edits.get(origin[1]) === null;
  const spent = orphanedReasoning(parts, (at) => isRemoved(parts[at] as PlacedBlock));
  for (const at of spent) edits.set((parts[at] as PlacedBlock).origin[1], null);
  // Reasoning that was apart does not keep a message that is no longer pinned: it is removed with the rest.
  const isEmpty = parts.every((block) => block.isOfPinned === true || isRemoved(block));
  return isEmpty && !isPinned(record) ? null : edits;
}

function isBlankText(block: ContentBlock): boolean {
  return block.type === 'text' && isBlank(block.text);
}
