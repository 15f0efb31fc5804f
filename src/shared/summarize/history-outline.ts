// The structure of a history (speakers, calls and their responses) as flat arrays without payloads, so that a worker without
// the entries can choose what to drop. Also finds the call that a response answers.

import { hasSubstance, isCompleteResponse } from '../content.js';
import type { ContentBlock, IContent, ToolCallBlock } from '../content.js';
import { NONE, IntColumn } from '../density/index/history-columns.js';
import { OpenCalls } from '../density/index/open-calls.js';

/**
 * Flags of an entry: its speaker, and whether its metadata marks it as a summary or as synthetic. A blank human entry has no speaker:
 * it asks nothing, and no request may begin with it. An ai entry that a provider may be sent nothing of, such as reasoning without a
 * signature, is bare: it is valid only as part of the answer that begins in the entry before it.
 */
export const ENTRY_FLAG = {
  human: 1,
  ai: 2,
  tool: 4,
  summary: 8,
  synthetic: 16,
  bare: 64,
} as const;

/** A history without payloads. Rows are in history order; entries are indices into the history. */
export interface HistoryOutline {
  /** Number of entries. */
  readonly length: number;
  /** By entry, its `ENTRY_FLAG`s. */
  readonly flags: Uint8Array;
  /** By call in an `ai` entry, that entry. Ascending. */
  readonly callEntries: Int32Array;
  /** By call, the entry of its complete response, or `NONE` if it is open. */
  readonly responseEntries: Int32Array;
  /** By incomplete response that belongs to a call, its entry. */
  readonly partialEntries: Int32Array;
  /** By incomplete response, the row of its call, which stays open. */
  readonly partialCalls: Int32Array;
}

/** A history's outline, and a way to find the call of a response. */
export interface OutlinedHistory {
  readonly outline: HistoryOutline;
  readonly callOf: CallOf;
}

/**
 * Returns the call that the complete response at an entry and block answers; `undefined` if there is no such response, or
 * if it has no call.
 */
export type CallOf = (entry: number, block: number) => ToolCallBlock | undefined;

/** The `ENTRY_FLAG`s of an entry. */
export function entryFlags({ speaker, blocks, metadata }: IContent): number {
  if (speaker === 'human' && !blocks.some(hasSubstance)) return 0;
  const summary = metadata?.isSummary === true ? ENTRY_FLAG.summary : 0;
  const synthetic = metadata?.synthetic === true ? ENTRY_FLAG.synthetic : 0;
  const bare = speaker === 'ai' && !blocks.some(isSent) ? ENTRY_FLAG.bare : 0;
  return ENTRY_FLAG[speaker] | summary | synthetic | bare;
}

function isSent(block: ContentBlock): boolean {
  const isSealed =
    block.type === 'thinking' && (block.signature ?? block.encryptedContent) !== undefined;
  return isSealed || hasSubstance(block);
}

/** Whether an entry is bare and continues the answer in the entry before it. */
export function continuesAnswer({ flags }: Pick<HistoryOutline, 'flags'>, entry: number): boolean {
  const [before = 0, bits = 0] = [flags[entry - 1], flags[entry]];
  return (bits & ENTRY_FLAG.bare) !== 0 && (before & ENTRY_FLAG.ai) !== 0;
}

/**
 * Outlines a history in one pass that pairs calls and responses: a response belongs to the nearest earlier call with its id
 * that has none yet, and leaves it open if it is incomplete. Linear in blocks.
 */
export function outlineHistory(history: readonly IContent[]): OutlinedHistory {
  const flags = new Uint8Array(history.length);
  const calls: ToolCallBlock[] = [];
  const callEntries = new IntColumn();
  const responseEntries = new IntColumn();
  const partialEntries = new IntColumn();
  const partialCalls = new IntColumn();
  /** By block of a `tool` entry, the row of the answered call, or `NONE`. */
  const answered = new IntColumn();
  /** By entry, where its blocks start in `answered`; the additional last element is the end. */
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
        const isPartial = block.type === 'tool_response' && block.isComplete === false;
        const call = block.type === 'tool_response' && !isPartial ? open.take(block.callId) : NONE;
        answered.push(call);
        if (call !== NONE) responseEntries.set(call, entry);
        const partOf = isPartial ? open.newest(block.callId) : NONE;
        if (partOf === NONE) continue;
        partialEntries.push(entry);
        partialCalls.push(partOf);
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

/** Number of blocks to search backwards before outlining the whole history. */
const SEARCHED_BLOCKS = 128;

/**
 * Finds calls lazily: searches backwards from each response, since most calls are right before it, and outlines the whole
 * history only for one that is farther away. The history must not change meanwhile. All searches together are linear.
 */
export function answeredCalls(history: readonly IContent[]): CallOf {
  let outlined: CallOf | undefined;
  return (entry, block) => {
    const near = outlined === undefined ? findNear(history, entry, block) : 'too far';
    if (near !== 'too far') return near;
    outlined ??= outlineHistory(history).callOf;
    return outlined(entry, block);
  };
}

function findNear(
  history: readonly IContent[],
  entry: number,
  block: number,
): ToolCallBlock | 'too far' | undefined {
  const response = history[entry]?.blocks[block];
  if (history[entry]?.speaker !== 'tool' || !response || !isCompleteResponse(response))
    return undefined;
  /** Responses of the same id in between, each of which has a call of its own. */
  let answered = 0;
  let left = SEARCHED_BLOCKS;
  for (let index = entry; index >= 0; index -= 1) {
    const { speaker, blocks } = history[index] as IContent;
    const last = index === entry ? block - 1 : blocks.length - 1;
    for (let at = last; at >= 0; at -= 1) {
      if (left === 0) return 'too far';
      left -= 1;
      const other = blocks[at] as ContentBlock;
      if (speaker === 'tool' && isCompleteResponse(other)) {
        if (other.callId === response.callId) answered += 1;
      } else if (speaker === 'ai' && other.type === 'tool_call' && other.id === response.callId) {
        if (answered === 0) return other;
        answered -= 1;
      }
    }
  }
  return undefined;
}
