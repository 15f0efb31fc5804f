// Finds the messages that a provider needs unchanged (pinned): those with a call of the provider's own tool whose result is in another
// message, such as code execution that makes calls itself; those with calls made by such a tool; those with calls whose results cannot
// be a text; and those that answer any of these calls. Once all calls of an exchange are answered, its messages become one entry of
// blocks that nothing edits, so that compaction may drop the exchange as a whole. Reasoning of these messages is an entry of its own,
// because an edit before it invalidates it.

import { isStripped } from '../../main/preflight/reasoning-policy.js';
import { asRecord } from '../../shared/json.js';
import { estimateEntryTokens } from '../../shared/tokens/estimate.js';
import type { PlacedBlock, PlacedEntry, Reading } from './message-format.js';

/** The calls that a message makes, answers or refers to, by their ids. Missing lists are empty. */
export interface CallsInMessage {
  /** Calls that the application answers. */
  readonly calls?: readonly unknown[];
  /** Calls of the provider's own tools. */
  readonly serverCalls?: readonly unknown[];
  /** Calls whose results the message has. */
  readonly answered?: readonly unknown[];
  /** All calls that the message's other parts belong to. @default those in `answered` */
  readonly related?: readonly unknown[];
  /** Calls of the provider's tools that made some of the message's calls. */
  readonly programs?: readonly unknown[];
  /** Whether the message must be sent unchanged for another reason. @default false */
  readonly staysPinned?: boolean;
}

/** Returns from a call's `caller` the id of the provider's tool call that made it, such as code execution; empty if the model did. */
export function programsIn(caller: unknown): readonly unknown[] {
  const fields = asRecord(caller);
  if (fields === undefined || fields['type'] === 'direct') return [];
  const { tool_id, toolId, caller_id, callerId } = fields;
  return [tool_id ?? toolId ?? caller_id ?? callerId];
}

/** The calls of one conversation in messages that must be sent unchanged. */
export class PinnedCalls {
  readonly #ids = new Set<unknown>();
  /** The open calls of the last message, if only the provider has to answer them. */
  #paused: readonly unknown[] = [];

  /**
   * Whether a message of the model goes on where the last one was paused, as Anthropic's API does (`pause_turn`): it has the results of
   * the provider's calls in that message. Only these must stay together, its own calls are like any. If so, must be called in place of
   * `pins`, else before it.
   */
  resumes(message: CallsInMessage): boolean {
    const { calls = [], serverCalls = [], answered = [], programs = [], staysPinned } = message;
    const isAnswered = [...this.#paused, ...serverCalls].every((id) => answered.includes(id));
    const isOfOthers = callsOfOtherMessages(message).some((id) => !this.#paused.includes(id));
    if (this.#paused.length === 0 || !isAnswered || isOfOthers) return false;
    if (programs.length > 0 || staysPinned === true) return false;
    this.#paused = [];
    for (const id of calls) this.#ids.delete(id);
    return true;
  }

  /** Whether a message must be sent unchanged. Must be called once for each message, in order. */
  pins(message: CallsInMessage): boolean {
    const { calls = [], serverCalls = [], answered = [], programs = [] } = message;
    const isPinned =
      message.staysPinned === true ||
      programs.length > 0 ||
      serverCalls.some((id) => !answered.includes(id)) ||
      (this.#ids.size > 0 && callsOfOtherMessages(message).some((id) => this.#ids.has(id)));
    const isPaused = isPinned && calls.length === 0 && message.staysPinned !== true;
    this.#paused = isPaused ? serverCalls.filter((id) => !answered.includes(id)) : [];
    for (const made of [calls, serverCalls]) {
      for (const id of made) {
        if (!isPinned) this.#ids.delete(id);
        else if (id !== undefined) this.#ids.add(id);
      }
    }
    return isPinned;
  }
}

/** Returns the calls in other messages that parts of a message belong to. */
function callsOfOtherMessages({
  calls = [],
  serverCalls = [],
  answered = [],
  related = answered,
  programs = [],
}: CallsInMessage): readonly unknown[] {
  const made = new Set([...calls, ...serverCalls]);
  // `undefined` in `related` stands for a part without a call. In `programs` it stands for an unknown program, so it counts.
  const known = related.filter((id) => id !== undefined);
  return [...known, ...programs].filter((id) => !made.has(id));
}

/** A message that is sent unchanged. */
export interface WholeMessage extends CallsInMessage {
  readonly blocks: readonly PlacedBlock[];
  /** What the user says besides the answers to calls. It becomes an entry after the complete exchange. */
  readonly userBlocks?: readonly PlacedBlock[];
  /** Whether it goes on where the last message was paused: its blocks may be edited. @default false */
  readonly isResumed?: boolean;
}

/**
 * Reads pinned messages in order. The messages of an exchange stay pinned until all its calls are answered, and for good if messages
 * outside the exchange come first.
 */
export class WholeExchanges {
  readonly #open = new Set<unknown>();
  #blocks: PlacedBlock[] = [];
  #tokens = 0;
  /** The part of `#tokens` that readings already count as pinned. */
  #pinnedTokens = 0;

  /** Reads the next pinned message. If the message completes an exchange, adds the exchange as an entry. */
  take(message: WholeMessage, reading: Reading): void {
    const { calls = [], serverCalls = [], answered = [], userBlocks = [] } = message;
    const made = [...calls, ...serverCalls];
    const blocks =
      message.isResumed === true ? message.blocks : addReasoning(message.blocks, reading);
    const otherCalls = callsOfOtherMessages(message);
    const isContinued = otherCalls.length > 0 && otherCalls.every((id) => this.#open.has(id));
    if (!isContinued) this.#interrupt(reading);
    const isBegun = otherCalls.length === 0 && made.length > 0;
    for (const id of made) this.#open.add(id);
    for (const id of answered) this.#open.delete(id);
    this.#blocks.push(...blocks);
    this.#tokens += estimateEntryTokens({ speaker: 'ai', blocks: [...blocks, ...userBlocks] });
    const isOpen = this.#open.size > 0;
    const isWhole = message.staysPinned !== true && (isContinued || isBegun);
    if (!isWhole || (isOpen && userBlocks.length > 0)) this.#interrupt(reading);
    else if (!isOpen) {
      reading.entries.push({ speaker: 'ai', blocks: this.#blocks });
      if (userBlocks.length > 0) reading.entries.push({ speaker: 'human', blocks: userBlocks });
      reading.pinnedTokens -= this.#pinnedTokens;
      this.#clear();
    }
  }

  /** Adds the entries of messages that are not pinned. Leaves an incomplete exchange before them pinned. */
  pass(entries: readonly PlacedEntry[], reading: Reading): void {
    this.#interrupt(reading);
    for (const entry of entries) if (entry.blocks.length > 0) reading.entries.push(entry);
  }

  /** Leaves an incomplete exchange pinned. */
  #interrupt(reading: Reading): void {
    this.end(reading);
    this.#clear();
  }

  /** Ends a reading: until more messages come, an incomplete exchange counts as pinned. */
  end(reading: Reading): void {
    reading.pinnedTokens += this.#tokens - this.#pinnedTokens;
    this.#pinnedTokens = this.#tokens;
    reading.openFrom = this.#blocks[0]?.origin[0];
  }

  #clear(): void {
    this.#open.clear();
    this.#blocks = [];
    this.#tokens = this.#pinnedTokens = 0;
  }
}

/**
 * Adds the reasoning of a pinned message to the reading, and returns its other blocks. OpenAI's reasoning items stay with the
 * others, because OpenAI refuses a call without its reasoning items.
 */
function addReasoning(
  blocks: readonly PlacedBlock[],
  { entries }: Reading,
): readonly PlacedBlock[] {
  const reasoning = blocks.filter(isStripped);
  if (reasoning.length === 0) return blocks;
  entries.push({
    speaker: 'ai',
    blocks: reasoning.map((block) => ({ ...block, isOfPinned: true }) as const),
  });
  return blocks.filter((block) => !isStripped(block));
}
