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
   * An item of the model. `isPinned` pins its whole run. If the item has the id of a call or request that it makes or answers, or of
   * the program that made it, the run is pinned only until all of these are answered.
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

/** An item that the model produced. */
interface RunItem {
  readonly index: number;
  readonly item: unknown;
  readonly blocks: readonly ContentBlock[];
  readonly isPinned: boolean;
  readonly askedId: string | undefined;
  readonly answeredId: string | undefined;
  readonly programs: readonly unknown[];
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
      const { blocks, isPinned = false, askedId, answeredId, programs = [] } = read;
      this.#run.push({ index, item, blocks, isPinned, askedId, answeredId, programs });
      return;
    }
    this.#endRun(reading, false);
    this.#isWithinPinned = false;
    const entry = this.#readOther(read, index);
    if (entry !== undefined) {
      this.#whole.interrupt(reading);
      reading.entries.push(entry);
      return;
    }
    const blocks = [placed(opaqueBlockOf('whole', item), index, 0)];
    this.#whole.take({ ...NO_CALLS, ...answeredBy(read), blocks }, reading);
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
    const endsInReasoning = run.at(-1)?.blocks.at(-1)?.type === 'thinking';
    const isAlwaysPinned =
      this.#isWithinPinned || run.some(staysPinned) || (isLast && endsInReasoning);
    const isPinned = isAlwaysPinned || run.some((item) => item.isPinned);
    this.#isWithinPinned = isPinned;
    for (const { blocks } of run) this.#calls.add(blocks, isPinned);
    if (isPinned) {
      const calls = run.flatMap(idsOfCalls);
      const blocks = run.flatMap(wholeBlocks);
      const answered = run.flatMap(({ answeredId }) => answeredId ?? []);
      const programs = run.flatMap((item) => item.programs);
      this.#whole.take(
        { ...NO_CALLS, calls, answered, programs, staysPinned: isAlwaysPinned, blocks },
        reading,
      );
    } else {
      this.#whole.interrupt(reading);
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
    const response = this.#calls.answer(reading.callId, reading);
    return response && { speaker: 'tool', blocks: [placed(response, index, 0)] };
  }
}

const NO_CALLS = { calls: [], serverCalls: [], answered: [], staysPinned: false };

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
function staysPinned({ isPinned, askedId, answeredId, programs }: RunItem): boolean {
  return isPinned && askedId === undefined && answeredId === undefined && programs.length === 0;
}

/** Returns the ids of an item's calls that the application answers, and `askedId`, such as that of an approval request or a program. */
function idsOfCalls({ blocks, askedId }: RunItem): readonly string[] {
  const ids = blocks.flatMap((block) => (block.type === 'tool_call' ? block.id : []));
  return askedId === undefined ? ids : [...ids, askedId];
}

/**
 * Returns the blocks of an item that must stay whole. Messages keep their blocks, because summaries need them; other items become one
 * opaque block that no rule edits. So does reasoning, because it must stay with its call.
 */
function wholeBlocks({ blocks, item, index }: RunItem): readonly PlacedBlock[] {
  const isRead = blocks.every(({ type }) => type !== 'thinking' && type !== 'tool_call');
  return placedInOrder(isRead ? blocks : [opaqueBlockOf('whole', item)], index);
}
