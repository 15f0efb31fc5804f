// Pairs tool calls and responses by searching a list from its end: what the one walk is held against.

import type { IContent, ToolCallBlock } from '../../src/shared/content.js';

/** A tool call in an `ai` entry and where it was answered. */
export interface NaivePair {
  readonly call: ToolCallBlock;
  readonly callEntry: number;
  /** The entry and block of its complete response; -1 while it is open. */
  readonly responseEntry: number;
  readonly responseBlock: number;
  /** The entries of its responses that are not complete, in their order. */
  readonly partialEntries: readonly number[];
}

/** Returns the pairs of a history in the order of the calls. */
export function pairNaively(history: readonly IContent[]): readonly NaivePair[] {
  const pairs: { -readonly [Key in keyof NaivePair]: NaivePair[Key] }[] = [];
  history.forEach(({ speaker, blocks }, entry) => {
    blocks.forEach((block, at) => {
      if (speaker === 'ai' && block.type === 'tool_call') {
        const answer = { responseEntry: -1, responseBlock: -1, partialEntries: [] };
        pairs.push({ call: block, callEntry: entry, ...answer });
      }
      if (speaker !== 'tool' || block.type !== 'tool_response') return;
      const open = pairs.findLast(
        ({ call, responseEntry }) => call.id === block.callId && responseEntry === -1,
      );
      if (open === undefined) return;
      if (block.isComplete === false) {
        open.partialEntries = [...open.partialEntries, entry];
      } else {
        open.responseEntry = entry;
        open.responseBlock = at;
      }
    });
  });
  return pairs;
}
