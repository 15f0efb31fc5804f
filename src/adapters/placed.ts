// Gives a block the place that it stands for, as all formats do.

import type { ContentBlock } from '../shared/content.js';
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
