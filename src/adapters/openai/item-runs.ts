// Reads conversations in which calls, outputs, reasoning and messages are separate items. A run, the items that the model produced in
// sequence, is one entry, so that reasoning is kept or removed with what it led to. Knows no shape of items.

import type { ContentBlock } from '../../shared/content.js';
import type { MessageReader, PlacedEntry, Reading } from '../message-format.js';
import { placed, placedInOrder } from '../placed.js';
import { plainData } from '../plain-data.js';
import { carriedTokens, NamedCalls } from './content-parts.js';

/** An item's role in its conversation. */
export type ItemReading =
  | { readonly kind: 'human'; readonly blocks: readonly ContentBlock[] }
  /** From the model. `isPinned` pins its whole run. */
  | {
      readonly kind: 'model';
      readonly blocks: readonly ContentBlock[];
      readonly isPinned?: boolean;
    }
  | { readonly kind: 'output'; readonly callId: string; readonly output: unknown }
  /** The provider's compaction of all items before it. */
  | { readonly kind: 'compaction'; readonly block: ContentBlock }
  | { readonly kind: 'pinned' };

/** @throws TypeError for an invalid item */
export type ReadItem = (item: unknown, where: string) => ItemReading;

/** An item that the model produced. */
interface RunItem {
  readonly index: number;
  readonly item: unknown;
  readonly blocks: readonly ContentBlock[];
  readonly isPinned: boolean;
}

/**
 * The reader of one conversation. Providers reject reasoning without what followed it and, by ids that a client cannot
 * interpret, what followed it without the reasoning. So a run with a pinned item is pinned as a whole, as are the outputs of
 * its calls. An output whose call is not in the conversation is pinned, because it answers a call that the provider keeps.
 */
export class ItemRunReader<Item> implements MessageReader<Item> {
  readonly #readItem: ReadItem;
  readonly #calls = new NamedCalls();
  /** Whether the last run was pinned and may continue in the next items. */
  #isWithinPinned = false;
  /** The items of a run that has not ended. */
  #run: RunItem[] = [];

  constructor(readItem: ReadItem) {
    this.#readItem = readItem;
  }

  read(given: Item, index: number, reading: Reading): void {
    const item = plainData(given, `item ${index}`);
    const read = this.#readItem(item, `item ${index}`);
    if (read.kind === 'model') {
      this.#run.push({ index, item, blocks: read.blocks, isPinned: read.isPinned === true });
      return;
    }
    this.#endRun(reading, false);
    this.#isWithinPinned = false;
    const entry = this.#readOther(read, index);
    if (entry === undefined) reading.pinnedTokens += carriedTokens(item);
    else reading.entries.push(entry);
  }

  end(reading: Reading): void {
    this.#endRun(reading, true);
  }

  #endRun(reading: Reading, isLast: boolean): void {
    const run = this.#run;
    if (run.length === 0) return;
    this.#run = [];
    // The next items may follow from the reasoning, and may have to be pinned.
    const endsInReasoning = run.at(-1)?.blocks.at(-1)?.type === 'thinking';
    const isPinned =
      this.#isWithinPinned || run.some((item) => item.isPinned) || (isLast && endsInReasoning);
    this.#isWithinPinned = isPinned;
    for (const { blocks } of run) this.#calls.add(blocks, isPinned);
    if (isPinned) for (const { item } of run) reading.pinnedTokens += carriedTokens(item);
    else {
      const blocks = run.flatMap((item) => placedInOrder(item.blocks, item.index));
      reading.entries.push({ speaker: 'ai', blocks });
    }
  }

  #readOther(
    reading: Exclude<ItemReading, { readonly kind: 'model' }>,
    index: number,
  ): PlacedEntry | undefined {
    if (reading.kind === 'pinned') return undefined;
    if (reading.kind === 'compaction')
      return { speaker: 'ai', blocks: placedInOrder([reading.block], index) };
    if (reading.kind === 'human')
      return { speaker: 'human', blocks: placedInOrder(reading.blocks, index) };
    const response = this.#calls.answer(reading.callId, reading.output);
    return response && { speaker: 'tool', blocks: [placed(response, index, 0)] };
  }
}
