// Pairs tool calls and responses by searching backwards in a list, as an oracle for the single-pass implementation.

import type { IContent, ToolCallBlock } from '../../src/shared/content.js';

/** A tool call in an `ai` entry and its responses. */
export interface NaivePair {
  readonly call: ToolCallBlock;
  readonly callEntry: number;
  /** The entry and block of its complete response; -1 while it is pending. */
  readonly responseEntry: number;
  readonly responseBlock: number;
  /** The entries of its incomplete responses, in order. */
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
