// What choosing what to drop needs to know of a history, as flat arrays without any payload: it can be
// planned on where the history itself is not. And the one walk over a history that makes it.

import type { IContent, ToolCallBlock } from '../content.js';
import { IntColumn, NONE } from '../density/index/history-columns.js';
import { OpenCalls } from '../density/index/open-calls.js';

/** Bits that say what an entry is: who speaks, whether it is marked a summary, and marked synthetic. */
export const ENTRY_FLAG = { human: 1, ai: 2, tool: 4, summary: 8, synthetic: 16 } as const;

/** A history without payloads. Rows are in history order; entries are indices into the history. */
export interface HistoryOutline {
  /** Entries of the history. */
  readonly length: number;
  /** By entry, bits of `ENTRY_FLAG`. */
  readonly flags: Uint8Array;
  /** By call of an `ai` entry, that entry. Ascending. */
  readonly callEntries: Int32Array;
  /** By call, the entry of its complete response, or `NONE` while it is open. */
  readonly responseEntries: Int32Array;
  /** By response that is not complete and belongs to a call, its entry. */
  readonly partialEntries: Int32Array;
  /** By such a response, the row of its call, which it leaves open. */
  readonly partialCalls: Int32Array;
}

/** A history's outline, with what it takes to find the call of a response. */
export interface OutlinedHistory {
  readonly outline: HistoryOutline;
  /** The call that the complete response at this place answers, or `undefined` when none stands there, or without a call. */
  readonly callOf: CallOf;
}

/** Finds the call of a response by the response's entry and block. */
export type CallOf = (entry: number, block: number) => ToolCallBlock | undefined;

/** The bits of `ENTRY_FLAG` that an entry has. */
export function entryFlags({ speaker, metadata }: IContent): number {
  const summary = metadata?.isSummary === true ? ENTRY_FLAG.summary : 0;
  const synthetic = metadata?.synthetic === true ? ENTRY_FLAG.synthetic : 0;
  return ENTRY_FLAG[speaker] | summary | synthetic;
}

/**
 * Outlines a history in one walk that pairs calls and responses: a response belongs to the nearest
 * earlier call with its id that has none yet, and leaves it open when it is not complete. Linear in blocks.
 */
export function outlineHistory(history: readonly IContent[]): OutlinedHistory {
  const flags = new Uint8Array(history.length);
  const calls: ToolCallBlock[] = [];
  const callEntries = new IntColumn();
  const responseEntries = new IntColumn();
  const partialEntries = new IntColumn();
  const partialCalls = new IntColumn();
  /** By block of a `tool` entry, the row of the call that it answers, or `NONE`. */
  const answered = new IntColumn();
  /** By entry, where its blocks begin in `answered`; those of the last entry end at the last one. */
  const firstAnswered = new Int32Array(history.length + 1);
  const open = new OpenCalls();

  history.forEach((content, entry) => {
    flags[entry] = entryFlags(content);
    if (content.speaker === 'ai') {
      for (const block of content.blocks) {
        if (block.type !== 'tool_call') continue;
        open.add(block.id, calls.length);
        calls.push(block);
        callEntries.push(entry);
        responseEntries.push(NONE);
      }
    } else if (content.speaker === 'tool') {
      for (const block of content.blocks) {
        const call = block.type === 'tool_response' ? open.take(block.callId) : NONE;
        const isPartial = block.type === 'tool_response' && block.isComplete === false;
        answered.push(isPartial ? NONE : call);
        if (call === NONE) continue;
        if (isPartial) {
          open.add(block.callId, call);
          partialEntries.push(entry);
          partialCalls.push(call);
        } else {
          responseEntries.set(call, entry);
        }
      }
    }
    firstAnswered[entry + 1] = answered.length;
  });

  return {
    outline: {
      length: history.length,
      flags,
      callEntries: callEntries.toArray(),
      responseEntries: responseEntries.toArray(),
      partialEntries: partialEntries.toArray(),
      partialCalls: partialCalls.toArray(),
    },
    callOf: (entry, block) => {
      const at = (firstAnswered[entry] ?? 0) + block;
      return at < (firstAnswered[entry + 1] ?? 0) ? calls[answered.at(at)] : undefined;
    },
  };
}
