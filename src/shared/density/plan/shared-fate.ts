// Which opaque blocks go with the tool calls of their entry: an approval that was asked for, say. Edits
// nothing.

import type { ContentBlock } from '../../content.js';

/** Returns the places of the opaque blocks whose call is dropped, and no other of that id stays. */
export function blocksOfDroppedCalls(
  blocks: readonly ContentBlock[],
  isDropped: (at: number) => boolean,
): readonly number[] {
  if (!blocks.some(sharesFate)) return NOWHERE;
  const dropped = new Set<string>();
  const kept = new Set<string>();
  blocks.forEach((block, at) => {
    if (block.type === 'tool_call') (isDropped(at) ? dropped : kept).add(block.id);
  });
  return blocks.flatMap((block, at) => {
    const callId = sharesFate(block) ? block.callId : undefined;
    return callId !== undefined && dropped.has(callId) && !kept.has(callId) ? at : [];
  });
}

/** Whether a block is bound to a call. */
export function sharesFate(
  block: ContentBlock,
): block is ContentBlock & { readonly type: 'opaque'; readonly callId: string } {
  return block.type === 'opaque' && block.callId !== undefined;
}

const NOWHERE: readonly number[] = [];
