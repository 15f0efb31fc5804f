// Exchanges that must be sent unchanged, or not at all: a message of the model with the answers to its calls, as of OpenAI's
// computer. Each becomes one entry of blocks that nobody edits, so that a compaction may drop it as a whole.

import type { PlacedBlock, Reading } from './message-format.js';

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
