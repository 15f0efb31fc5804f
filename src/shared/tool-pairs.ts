// Which response answers which call, for work that needs the blocks themselves.

import type { IContent, ToolCallBlock } from './content.js';
import { NONE } from './density/history-columns.js';
import { OpenCalls } from './density/open-calls.js';

/** A tool call in an `ai` entry and where it was answered. */
export interface ToolPair {
  readonly call: ToolCallBlock;
  readonly callEntry: number;
  /** The entry of its response, or `undefined` while the call is open. */
  responseEntry: number | undefined;
}

/** The pairs of a history, and how to find the one of a response. */
export interface ToolPairs {
  /** In the order of the calls. */
  readonly pairs: readonly ToolPair[];
  /** The pair that the response at this place belongs to, or `undefined` for a response without a call. */
  pairOfResponse(entry: number, block: number): ToolPair | undefined;
}

/**
 * Pairs calls and responses in one walk: a response belongs to the nearest earlier call with its id
 * that has none yet.
 */
export function pairTools(history: readonly IContent[]): ToolPairs {
  const pairs: ToolPair[] = [];
  const open = new OpenCalls();
  const byEntry = new Map<number, (ToolPair | undefined)[]>();
  history.forEach(({ speaker, blocks }, entry) => {
    if (speaker === 'ai') {
      for (const block of blocks) {
        if (block.type !== 'tool_call') continue;
        open.add(block.id, pairs.length);
        pairs.push({ call: block, callEntry: entry, responseEntry: undefined });
      }
    } else if (speaker === 'tool') {
      const answered = blocks.map((block) => {
        if (block.type !== 'tool_response' || block.isComplete === false) return undefined;
        const row = open.take(block.callId);
        const pair = row === NONE ? undefined : pairs[row];
        if (pair !== undefined) pair.responseEntry = entry;
        return pair;
      });
      byEntry.set(entry, answered);
    }
  });
  return { pairs, pairOfResponse: (entry, block) => byEntry.get(entry)?.[block] };
}
