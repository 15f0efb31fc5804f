// Finds the messages that a provider needs unchanged: those with a call of its own tool whose result is in another message, such as
// the code execution that makes calls itself, with those calls, with calls whose results cannot be a text, and with what answers
// any of them. Some may go as a whole exchange: a message of the model with the answers to its calls, as of OpenAI's computer. Each of
// these becomes one entry of blocks that nobody edits, so that a compaction may drop it.

import type { PlacedBlock, Reading } from './message-format.js';

/** The calls in a message, by their ids. */
export interface CallsInMessage {
  /** Calls that the application answers. */
  readonly calls: readonly unknown[];
  /** Calls of the provider's own tools. */
  readonly serverCalls: readonly unknown[];
  /** Calls whose results it has. */
  readonly answered: readonly unknown[];
  /** All calls that its other parts belong to. @default those whose results it has */
  readonly related?: readonly unknown[];
  /** Whether it uses OpenAI's computer, whose results are screenshots. */
  readonly usesComputer?: boolean;
  /** Whether it must be sent unchanged for another reason. */
  readonly isBound: boolean;
}

/** The calls of one conversation in messages that must be sent unchanged. */
export class PinnedCalls {
  readonly #ids = new Set<unknown>();

  /** Whether a message must be sent unchanged. To be called once for each message, in order. */
  pins(message: CallsInMessage): boolean {
    const { calls, serverCalls, answered, usesComputer, isBound } = message;
    const isPinned =
      isBound ||
      usesComputer === true ||
      serverCalls.some((id) => !answered.includes(id)) ||
      (this.#ids.size > 0 && this.#relatesToPinned(message));
    for (const made of [calls, serverCalls]) {
      for (const id of made) {
        if (!isPinned) this.#ids.delete(id);
        else if (id !== undefined) this.#ids.add(id);
      }
    }
    return isPinned;
  }

  #relatesToPinned({ calls, serverCalls, answered, related = answered }: CallsInMessage): boolean {
    const made = new Set([...calls, ...serverCalls]);
    return related.some((id) => !made.has(id) && this.#ids.has(id));
  }
}

/** The calls of a message that nothing but the use of a computer pins, so that it may go with their answers. */
export function callsWithComputer(message: CallsInMessage): readonly unknown[] | undefined {
  const { calls, serverCalls, usesComputer, isBound } = message;
  const isOnlyThat = usesComputer === true && !isBound && serverCalls.length === 0;
  return isOnlyThat && calls.length > 0 ? calls : undefined;
}

/** A message of such an exchange. */
export interface WholeMessage {
  /** Of a message of the model, the ids of all its calls, at least one. */
  readonly callIds?: readonly unknown[] | undefined;
  /** Of an answer, the ids of the calls that it answers; `undefined` among them for anything else in it. */
  readonly answeredIds?: readonly unknown[] | undefined;
  readonly blocks: readonly PlacedBlock[];
  /** Estimated tokens of a pinned message. */
  readonly tokens: number;
}

/** Reads pinned messages in order. Those of an exchange that ends with other messages, or is not complete, stay pinned. */
export class WholeExchanges {
  #open: Set<unknown> = new Set();
  #blocks: PlacedBlock[] = [];
  #tokens = 0;

  /** Reads the next pinned message: adds the entry of an exchange that is complete with it. */
  take({ callIds, answeredIds = [], blocks, tokens }: WholeMessage, reading: Reading): void {
    const isAnswer = answeredIds.length > 0 && answeredIds.every((id) => this.#open.has(id));
    if (!isAnswer) {
      this.end(reading);
      if (callIds === undefined) {
        reading.pinnedTokens += tokens;
        return;
      }
      this.#open = new Set(callIds);
    }
    for (const id of answeredIds) this.#open.delete(id);
    this.#blocks.push(...blocks);
    this.#tokens += tokens;
    if (this.#open.size > 0) return;
    reading.entries.push({ speaker: 'ai', blocks: this.#blocks });
    this.#tokens = 0;
    this.end(reading);
  }

  /** Leaves an incomplete exchange pinned. To be called before a message that is not pinned, and at the end. */
  end(reading: Reading): void {
    reading.pinnedTokens += this.#tokens;
    this.#open = new Set();
    this.#blocks = [];
    this.#tokens = 0;
  }
}
