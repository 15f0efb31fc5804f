// Reads conversations in which calls, outputs, reasoning and messages are separate items. The items that the model produced in
// sequence are a "run" and become one entry, so that reasoning is kept or removed with what it led to. Knows no item format.

import type { ContentBlock } from '../../shared/content.js';
import type { MessageReader, PlacedBlock, PlacedEntry, Reading } from '../format/message-format.js';
import { placed, placedInOrder } from '../format/placed.js';
import { plainData } from '../format/plain-data.js';
import { opaqueBlockOf } from '../format/blocks.js';
import type { Outcome } from '../format/blocks.js';
import { WholeExchanges } from '../format/pinned-calls.js';
import type { WholeMessage } from '../format/pinned-calls.js';
import { NamedCalls } from './content-parts.js';

/** An item's role in its conversation. */
export type ItemReading =
  | { readonly kind: 'human'; readonly blocks: readonly ContentBlock[] }
  /**
   * An item of the model. `isPinned` pins its whole run, and so do `programs`, the program that made a call: both may be removed only
   * together. If the item has the id of a call or request that it makes or answers, or of the program that made it, the run is
   * pinned only until all of these are answered.
   */
  | {
      readonly kind: 'model';
      readonly blocks: readonly ContentBlock[];
      readonly isPinned?: boolean;
      readonly askedId?: string | undefined;
      readonly answeredId?: string | undefined;
      readonly programs?: readonly unknown[];
    }
  | ({ readonly kind: 'output'; readonly callId: string } & Outcome)
  /** The provider's compaction of all items before it. */
  | { readonly kind: 'compaction'; readonly block: ContentBlock }
  | {
      readonly kind: 'pinned';
      readonly answeredId?: string | undefined;
      /** Id of a request to which the item belongs, and which stays open. */
      readonly relatedId?: string | undefined;
    };

/** @throws TypeError for an invalid item */
export type ReadItem = (item: unknown, where: string) => ItemReading;

/** What is read of an item of the model. */
type ModelReading = Extract<ItemReading, { readonly kind: 'model' }>;

/** An item that the model produced. */
interface RunItem {
  readonly index: number;
  readonly item: unknown;
  readonly read: ModelReading;
}

/**
 * The reader of one conversation. Providers reject reasoning without what followed it. They also reject, by ids that a client cannot
 * interpret, what followed reasoning without that reasoning. So a run with a pinned item is pinned as a whole, with the outputs of
 * its calls. An output whose call is not in the conversation is pinned, because it answers a call that the provider keeps.
 */
export class ItemRunReader<Item> implements MessageReader<Item> {
  readonly #readItem: ReadItem;
  readonly #calls = new NamedCalls();
  readonly #whole = new WholeExchanges();
  /** Whether the last run was pinned and may continue with the next items. */
  #isWithinPinned = false;
  /** The items so far of a run that has not ended. */
  #run: RunItem[] = [];

  constructor(readItem: ReadItem) {
    this.#readItem = readItem;
  }

  read(given: Item, index: number, reading: Reading): void {
    const item = plainData(given, `item ${index}`);
    const read = this.#readItem(item, `item ${index}`);
    if (read.kind === 'model') {
      this.#run.push({ index, item, read });
      return;
    }
    this.#endRun(reading, false);
    this.#isWithinPinned = false;
    const entry = this.#readOther(read, index);
    if (entry !== undefined) {
      this.#whole.pass([entry], reading);
      return;
    }
    const blocks = [placed(opaqueBlockOf('whole', item), index, 0)];
    this.#whole.take({ ...answeredBy(read), blocks }, reading);
  }

  end(reading: Reading): void {
    this.#endRun(reading, true);
    this.#whole.end(reading);
  }

  #endRun(reading: Reading, isLast: boolean): void {
    const run = this.#run;
    if (run.length === 0) return;
    this.#run = [];
    // If the reading ends in reasoning, the items that it leads to are still to come, and may have to be pinned.
    const endsInReasoning = run.at(-1)?.read.blocks.at(-1)?.type === 'thinking';
    const isAlwaysPinned =
      this.#isWithinPinned || run.some(staysPinned) || (isLast && endsInReasoning);
    const programs = run.flatMap(({ read }) => read.programs ?? []);
    const isPinned =
      isAlwaysPinned || programs.length > 0 || run.some(({ read }) => read.isPinned === true);
    this.#isWithinPinned = isPinned;
    for (const { read } of run) this.#calls.add(read.blocks, isPinned);
    if (!isPinned) {
      const blocks = run.flatMap(({ read, index }) => placedInOrder(read.blocks, index));
      this.#whole.pass([{ speaker: 'ai', blocks }], reading);
      return;
    }
    const calls = run.flatMap(idsOfCalls);
    const answered = run.flatMap(({ read }) => read.answeredId ?? []);
    const blocks = run.flatMap(wholeBlocks);
    this.#whole.take({ calls, answered, programs, staysPinned: isAlwaysPinned, blocks }, reading);
  }

  #readOther(reading: Exclude<ItemReading, ModelReading>, index: number): PlacedEntry | undefined {
    if (reading.kind === 'pinned') return undefined;
    if (reading.kind === 'compaction')
      return { speaker: 'ai', blocks: placedInOrder([reading.block], index) };
    if (reading.kind === 'human')
      return { speaker: 'human', blocks: placedInOrder(reading.blocks, index) };
    const response = this.#calls.answer(reading.callId, reading);
    return response && { speaker: 'tool', blocks: [placed(response, index, 0)] };
  }
}

/** Returns the calls and requests that an item answers or belongs to. */
function answeredBy(reading: ItemReading): Pick<WholeMessage, 'answered' | 'related'> {
  if (reading.kind === 'output') return { answered: [reading.callId] };
  const { answeredId, relatedId = answeredId } = reading.kind === 'pinned' ? reading : {};
  return {
    answered: answeredId === undefined ? [] : [answeredId],
    related: relatedId === undefined ? [] : [relatedId],
  };
}

/** Whether an item stays pinned for good, because it belongs to no exchange that can be completed. */
function staysPinned({ read }: RunItem): boolean {
  const { isPinned = false, askedId, answeredId, programs = [] } = read;
  return isPinned && askedId === undefined && answeredId === undefined && programs.length === 0;
}

/** Returns the ids of an item's calls that the application answers, and `askedId`, such as that of an approval request or a program. */
function idsOfCalls({ read: { blocks, askedId } }: RunItem): readonly string[] {
  const ids = blocks.flatMap((block) => (block.type === 'tool_call' ? block.id : []));
  return askedId === undefined ? ids : [...ids, askedId];
}

/**
 * Returns the blocks of an item that must stay whole. Messages keep their blocks, because summaries need them; other items become one
 * opaque block that no rule edits. So does reasoning, because it must stay with its call.
 */
function wholeBlocks({ read: { blocks }, item, index }: RunItem): readonly PlacedBlock[] {
  const isRead = blocks.every(({ type }) => type !== 'thinking' && type !== 'tool_call');
  return placedInOrder(isRead ? blocks : [opaqueBlockOf('whole', item)], index);
}
