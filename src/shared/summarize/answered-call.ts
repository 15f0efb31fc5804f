// Finds the call that a response answers, from the response backwards: most stand right before it.

import type { IContent, ToolCallBlock } from '../content.js';

/**
 * Returns the newest call before a response that has its id and that no response in between answers; `undefined` when
 * there is none, or when the block is no complete response of a tool entry.
 *
 * @param entry index of the response's entry
 * @param block index of the response in its entry
 */
export function answeredCall(
  history: readonly IContent[],
  entry: number,
  block: number,
): ToolCallBlock | undefined {
  const response = history[entry]?.blocks[block];
  if (history[entry]?.speaker !== 'tool' || response?.type !== 'tool_response') return undefined;
  if (response.isComplete === false) return undefined;
  let answered = 0;
  for (let index = entry; index >= 0; index -= 1) {
    const { speaker, blocks } = history[index] ?? NO_ENTRY;
    const last = index === entry ? block - 1 : blocks.length - 1;
    for (let at = last; at >= 0; at -= 1) {
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
