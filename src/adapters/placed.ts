// Gives a block the place that it stands for, as all formats do, and tells by it what a history has left of a message.

import type { ContentBlock, IContent } from '../shared/content.js';
import type { Origin, PlacedBlock } from './message-format.js';

/** The block, with the index of its message in the conversation and of its part in that. */
export function placed(block: ContentBlock, message: number, part: number): PlacedBlock {
  return { ...block, origin: [message, part] };
}

/** The blocks, one for each part of a message in their order. */
export function placedInOrder(
  blocks: readonly ContentBlock[],
  message: number,
): readonly PlacedBlock[] {
  return blocks.map((block, part) => placed(block, message, part));
}

export function isPlaced(block: ContentBlock): block is PlacedBlock {
  return 'origin' in block;
}

/** Messages or entries that are looked at before others may have a turn: some tenths of a millisecond. */
export const PER_SLICE = 64;

/** What a history has of messages. */
export interface OtherwiseLeft {
  /** By message, 1 when all is there that was left of it and no more, in the same order: as of most. */
  readonly isAsLeft: Uint8Array;
  /** The blocks of all others. */
  readonly others: ReadonlyMap<Origin, PlacedBlock>;
}

/** Finds of which messages a history has something else than what was left of them, in slices. */
export function* findOthers(
  messages: readonly { readonly left: readonly PlacedBlock[] }[],
  history: readonly IContent[],
): Generator<void, OtherwiseLeft, undefined> {
  const seen = new Int32Array(messages.length);
  for (const [number, { blocks }] of history.entries()) {
    if (number % PER_SLICE === 0) yield;
    for (const block of blocks) {
      if (!isPlaced(block)) continue;
      const [message] = block.origin;
      const at = seen[message] ?? -1;
      if (at >= 0) seen[message] = messages[message]?.left[at] === block ? at + 1 : -1;
    }
  }
  const isAsLeft = Uint8Array.from(messages, ({ left }, at) => (seen[at] === left.length ? 1 : 0));
  const others = new Map<Origin, PlacedBlock>();
  for (const [number, { blocks }] of history.entries()) {
    if (number % PER_SLICE === 0) yield;
    for (const block of blocks) {
      if (isPlaced(block) && isAsLeft[block.origin[0]] === 0) others.set(block.origin, block);
    }
  }
  return { isAsLeft, others };
}
