// Finds the calls that responses answer, from each response backwards: most stand right before it. What is
// farther away is found by one walk over the history, made once.

import type { IContent, ToolCallBlock } from '../content.js';
import { outlineHistory } from './history-outline.js';
import type { CallOf } from './history-outline.js';

/** So many blocks are looked at before the whole history is. */
const SEARCHED_BLOCKS = 128;

/**
 * Returns what finds the newest call before a response that has its id and that no response in between answers:
 * `undefined` when there is none, or when the block is no complete response of a tool entry. All searches
 * together are linear in the history, which must stay as it is meanwhile.
 *
 * @param searchedBlocks how far to look back before the walk
 */
export function answeredCalls(
  history: readonly IContent[],
  searchedBlocks: number = SEARCHED_BLOCKS,
): CallOf {
  let outlined: CallOf | undefined;
  return (entry, block) => {
    const near =
      outlined === undefined ? findNear(history, entry, block, searchedBlocks) : 'too far';
    if (near !== 'too far') return near;
    outlined ??= outlineHistory(history).callOf;
    return outlined(entry, block);
  };
}

function findNear(
  history: readonly IContent[],
  entry: number,
  block: number,
  searchedBlocks: number,
): ToolCallBlock | 'too far' | undefined {
  const response = history[entry]?.blocks[block];
  if (history[entry]?.speaker !== 'tool' || response?.type !== 'tool_response') return undefined;
  if (response.isComplete === false) return undefined;
  let answered = 0;
  let left = searchedBlocks;
  for (let index = entry; index >= 0; index -= 1) {
    const { speaker, blocks } = history[index] ?? NO_ENTRY;
    const last = index === entry ? block - 1 : blocks.length - 1;
    for (let at = last; at >= 0; at -= 1) {
      if (left === 0) return 'too far';
      left -= 1;
      const other = blocks[at];
      if (speaker === 'tool' && other?.type === 'tool_response') {
        if (other.callId === response.callId && other.isComplete !== false) answered += 1;
      } else if (speaker === 'ai' && other?.type === 'tool_call' && other.id === response.callId) {
        if (answered === 0) return other;
        answered -= 1;
      }
    }
  }
  return undefined;
}

const NO_ENTRY: IContent = { speaker: 'human', blocks: [] };
