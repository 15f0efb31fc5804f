// Gives a block the place that it stands for, as all formats do, and tells by it what a history has left of a message.

import type { ContentBlock, IContent } from '../shared/content.js';
import type { PlacedBlock } from './message-format.js';

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

/** By message, 1 when a history has all that was left of it and no more, in the same order: as of most. */
export function markAsLeft(
  messages: readonly { readonly left: readonly PlacedBlock[] }[],
  history: readonly IContent[],
): Uint8Array {
  const seen = new Int32Array(messages.length);
  for (const { blocks } of history) {
    for (const block of blocks) {
      if (!isPlaced(block)) continue;
      const [message] = block.origin;
      const at = seen[message] ?? -1;
      if (at >= 0) seen[message] = messages[message]?.left[at] === block ? at + 1 : -1;
    }
  }
  return Uint8Array.from(messages, ({ left }, at) => (seen[at] === left.length ? 1 : 0));
}
