// The calls of one conversation, by id: what an answer to one needs, for these APIs name tools in calls alone.

import { toolResponse } from '../../shared/content.js';
import type { ContentBlock, ToolResponseBlock } from '../../shared/content.js';
import { readFailure } from './content-parts.js';

/** Stands for the name of a call that is pinned. */
const PINNED = Symbol('pinned');

/** The newest call of each id. */
export class NamedCalls {
  readonly #names = new Map<string, string | typeof PINNED>();

  /** Notes the calls among the blocks of a message. */
  note(blocks: readonly ContentBlock[], isPinned: boolean): void {
    for (const block of blocks) {
      if (block.type === 'tool_call') this.#names.set(block.id, isPinned ? PINNED : block.name);
    }
  }

  /**
   * Makes the response to a call; `undefined` when the call is pinned or not in the conversation, for then
   * the answer has to stay as well.
   *
   * @param mediaTokens what media in the result take
   */
  answer(callId: string, result: unknown, mediaTokens: number): ToolResponseBlock | undefined {
    const toolName = this.#names.get(callId);
    if (toolName === undefined || toolName === PINNED) return undefined;
    const response = toolResponse(callId, toolName, result, readFailure(result));
    return mediaTokens > 0 ? { ...response, mediaTokens } : response;
  }
}
