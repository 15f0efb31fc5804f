// The messages of one conversation as they stand: reads new ones as entries, and writes what edits left
// of the entries back into the messages that they came from. Runs no compaction.

import type { EntryChange } from '../main/history-change.js';
import { inTurns } from '../main/waiting/event-loop-turn.js';
import type { ContentBlock, IContent } from '../shared/content.js';
import { runSlices } from '../shared/slices.js';
import type {
  MessageFormat,
  MessageReader,
  Origin,
  PartEdits,
  PlacedBlock,
  PlacedEntry,
  Reading,
} from './message-format.js';
import { divideMessages } from './divide-messages.js';
import type { Division } from './divide-messages.js';
import { isAtOrBehind, isPinned, isStanding, NO_EDITS, NO_PARTS } from './message-place.js';
import type {
  GivenMessage,
  KnownMessages,
  Place,
  ReadAhead,
  WrittenMessage,
} from './message-place.js';
import { findFirstEdits, findOthers, isPlaced, PER_SLICE } from './placed.js';
import { writeEntry } from './provider-compaction.js';
import { readInSlices } from './read-in-slices.js';
import { isSameList } from './same-list.js';

/** The view of one conversation. */
export class MessageView<Message> {
  readonly #format: MessageFormat<Message>;
  #reader: MessageReader<Message>;
  /** How many messages were read together each time: what a reader makes of one may depend on those beside it. */
  readonly #readings: number[] = [];
  readonly #given: Message[] = [];
  readonly #records: GivenMessage<Message>[] = [];
  /** By the id of a tool call, the messages with parts that share its fate. */
  readonly #dependents = new Map<string, GivenMessage<Message>[]>();
  /** How many calls of an id stand. */
  readonly #standingCalls = new Map<string, number>();
  #places: Place<Message>[] = [];
  #standing: Message[] = [];
  #pinnedTokens = 0;
  /** The entries that were read, until the first edit. */
  #read: PlacedEntry[] | undefined = [];

  constructor(format: MessageFormat<Message>) {
    this.#format = format;
    this.#reader = format.createReader();
  }

  /** All messages, as they were given. A view that grows. */
  get given(): readonly Message[] {
    return this.#given;
  }

  /** The messages as they stand after all edits. A view that changes with every read and edit. */
  get standing(): readonly Message[] {
    return this.#standing;
  }

  /** Both lists with what their messages stand for. */
  get knownLists(): readonly KnownMessages<Message>[] {
    return [
      { messages: this.#given, places: this.#records },
      { messages: this.#standing, places: this.#places },
    ];
  }

  /** About how many tokens the messages take that stand in no entry. */
  get pinnedTokens(): number {
    return this.#pinnedTokens;
  }

  /**
   * Reads further messages.
   *
   * @throws TypeError naming the message, for what is none and for what no history can hold. The view is as it
   *   was then.
   */
  read(messages: readonly Message[]): ReadAhead<Message> {
    return runSlices(this.#readAhead(messages));
  }

  /** The same with turns of the event loop between; nothing else may be read meanwhile. */
  readInTurns(messages: readonly Message[]): Promise<ReadAhead<Message>> {
    return inTurns(this.#readAhead(messages));
  }

  *#readAhead(messages: readonly Message[]): Generator<void, ReadAhead<Message>, undefined> {
    const reading = yield* this.#readOrRefuse(messages);
    return {
      entries: reading.entries,
      commit: () => runSlices(this.#commit(messages, reading)),
      commitInTurns: () => inTurns(this.#commit(messages, reading)),
    };
  }

  *#commit(
    messages: readonly Message[],
    { entries, pinnedTokens }: Reading,
  ): Generator<void, readonly Place<Message>[], undefined> {
    this.#readings.push(messages.length);
    this.#pinnedTokens += pinnedTokens;
    const places: Place<Message>[] = [];
    for (const given of messages) {
      if (places.push(this.#append(given)) % PER_SLICE === 0) yield;
    }
    let entered = 0;
    for (const entry of entries) {
      this.#read?.push(entry);
      for (const block of entry.blocks) this.#enter(block);
      entered += 1;
      if (entered % PER_SLICE === 0) yield;
    }
    return places;
  }

  /**
   * Takes other objects that say the same in the place of those that were known: whoever builds messages
   * anew gets back what it has built, with what an edit left out of it.
   *
   * @param which indices of the messages to take; the others are left as they are known
   */
  adopt(
    { messages, places }: KnownMessages<Message>,
    now: readonly Message[],
    which: Iterable<number>,
  ): void {
    let isChanged = false;
    for (const at of which) {
      const [place, message, former] = [places[at], now[at], messages[at]];
      if (place === undefined || message === undefined || former === undefined) continue;
      if (message === former) continue;
      isChanged = true;
      if (!('entry' in place) && place.given === former) this.#giveAnew(place, message);
      else if (place.standing === former) place.standing = message;
    }
    if (isChanged) this.#place(this.#places);
  }

  /** The messages as they stand, drawn from copies of those that are known: a new list, of which nothing is held. */
  standingAs({ messages, places }: KnownMessages<Message>, now: readonly Message[]): Message[] {
    const standing = [...this.#standing];
    let at = 0;
    for (let position = 0; position < standing.length; position += 1) {
      const place = this.#places[position];
      if (place === undefined || 'entry' in place) continue;
      // Messages keep their order, whatever is written between them.
      while (at < places.length && !isAtOrBehind(places[at], place)) at += 1;
      const message = now[at];
      if (places[at] !== place || message === undefined || message === messages[at]) continue;
      if (place.standing === messages[at]) standing[position] = message;
      // A message with an edit in each part would come to the same: nothing of the copy's would be left in it.
      else if (place.given === messages[at] && place.edits?.size !== place.parts.length) {
        standing[position] = this.#rewrite(place, message) ?? message;
      }
    }
    return standing;
  }

  /** Follows an edit that replaced entries where they stood or removed them. */
  applyChanges(changes: readonly EntryChange[]): void {
    this.#read = undefined;
    const left = new Map<Origin, PlacedBlock | null>();
    const removed = new Set<IContent>();
    for (const { before, after } of changes) {
      if (after === null) removed.add(before);
      for (const block of before.blocks) {
        if (isPlaced(block)) left.set(block.origin, null);
      }
      for (const block of after?.blocks ?? []) {
        if (isPlaced(block)) left.set(block.origin, block);
      }
    }
    const touched = new Set<GivenMessage<Message>>();
    for (const [index] of left.keys()) {
      const record = this.#records[index];
      if (record === undefined || touched.has(record)) continue;
      touched.add(record);
      this.#leave(
        record,
        record.left.flatMap((block) => {
          const now = left.get(block.origin);
          return now === undefined ? block : (now ?? []);
        }),
      );
    }
    runSlices(this.#redraw(touched));
    const places = this.#places.filter((place) =>
      'entry' in place ? !removed.has(place.entry) : place.standing !== null,
    );
    this.#place(places);
  }

  /** Follows an edit that put another list in the place of the history. Linear in blocks and messages. */
  follow(history: readonly IContent[]): void {
    runSlices(this.#follow(history));
  }

  /** The same with turns of the event loop between; nothing else may change the view or the list meanwhile. */
  followInTurns(history: readonly IContent[]): Promise<void> {
    return inTurns(this.#follow(history));
  }

  *#follow(history: readonly IContent[]): Generator<void, void, undefined> {
    const read = this.#read;
    this.#read = undefined;
    const touched = new Set<GivenMessage<Message>>();
    const leave = (record: GivenMessage<Message>, now: readonly PlacedBlock[]): boolean => {
      this.#leave(record, now);
      return touched.add(record).size % PER_SLICE === 0;
    };
    let isOrdered = false;
    if (read === undefined) {
      const { isAsLeft, others } = yield* findOthers(this.#records, history);
      for (const record of this.#records) {
        if (isAsLeft[record.index] === 1) continue;
        const now = record.parts.flatMap(({ origin }) => others.get(origin) ?? []);
        if (!isSameList(now, record.left) && leave(record, now)) yield;
      }
    } else {
      const { messages, gone, others, hasWritten } = yield* findFirstEdits(read, history);
      for (const index of messages) {
        const record = this.#records[index];
        const now: PlacedBlock[] = [];
        for (const block of record?.parts ?? []) {
          const left = gone.has(block) ? others.get(block.origin) : block;
          if (left !== undefined) now.push(left);
        }
        if (record && leave(record, now)) yield;
      }
      isOrdered = !hasWritten;
    }
    yield* this.#redraw(touched);
    this.#place(isOrdered ? this.#records.filter(isStanding) : yield* this.#arrange(history));
  }

  /** See `divideMessages`. */
  divide(history: readonly IContent[], tailStart: number): Division<Message> | null {
    return divideMessages(this.#places, history, tailStart, this.#format.provider);
  }

  *#readOrRefuse(messages: readonly Message[]): Generator<void, Reading, undefined> {
    try {
      return yield* readInSlices(this.#reader, messages, this.#records.length);
    } catch (cause) {
      // It has read a part of them, and may remember calls that were never made.
      this.#reader = this.#readAgain();
      if (cause instanceof TypeError) throw cause;
      const first = this.#records.length;
      const which = `messages ${first} to ${first + messages.length - 1}`;
      throw new TypeError(`Expected ${which} to be readable; one of them throws.`, { cause });
    }
  }

  /** A reader that knows what was given so far, and nothing else. */
  #readAgain(): MessageReader<Message> {
    const reader = this.#format.createReader();
    let from = 0;
    for (const length of this.#readings) {
      reader.read(this.#given.slice(from, from + length), from);
      from += length;
    }
    return reader;
  }

  #giveAnew(record: GivenMessage<Message>, given: Message): void {
    record.given = given;
    this.#given[record.index] = given;
    record.standing = this.#rewrite(record, given);
  }

  #append(given: Message): GivenMessage<Message> {
    const index = this.#records.length;
    const [parts, edits, standing] = [NO_PARTS, NO_EDITS, given];
    const record: GivenMessage<Message> = { index, given, parts, left: parts, edits, standing };
    this.#given.push(given);
    this.#records.push(record);
    this.#places.push(record);
    this.#standing.push(given);
    return record;
  }

  #enter(block: PlacedBlock): void {
    const record = this.#records[block.origin[0]];
    if (record === undefined) return;
    // Most messages have one part: a list that begins empty takes room for many.
    if (record.parts.length === 0) record.parts = record.left = [block];
    else record.parts.push(block);
    if (block.type === 'tool_call') this.#countCall(block.id, 1);
    if (block.type !== 'opaque' || block.callId === undefined) return;
    const dependents = this.#dependents.get(block.callId);
    if (dependents === undefined) this.#dependents.set(block.callId, [record]);
    else dependents.push(record);
  }

  #countCall(id: string, change: number): void {
    this.#standingCalls.set(id, (this.#standingCalls.get(id) ?? 0) + change);
  }

  #leave(record: GivenMessage<Message>, left: readonly PlacedBlock[]): void {
    for (const block of record.left) if (block.type === 'tool_call') this.#countCall(block.id, -1);
    for (const block of left) if (block.type === 'tool_call') this.#countCall(block.id, 1);
    record.left = left;
  }

  /** Writes anew the messages that an edit has touched, and those that depend on a call in them. */
  *#redraw(touched: ReadonlySet<GivenMessage<Message>>): Generator<void, void, undefined> {
    const all = new Set<GivenMessage<Message>>();
    for (const record of touched) {
      const { parts } = record;
      all.add(record);
      if (all.size % PER_SLICE === 0) yield;
      for (const block of parts) {
        if (block.type !== 'tool_call') continue;
        for (const dependent of this.#dependents.get(block.id) ?? []) all.add(dependent);
      }
    }
    let drawn = 0;
    for (const record of all) {
      record.edits = this.#editsOf(record);
      record.standing = this.#rewrite(record, record.given);
      drawn += 1;
      if (drawn % PER_SLICE === 0) yield;
    }
  }

  /** What is left of a message are parts of it in their order. */
  #editsOf({ parts, left }: GivenMessage<Message>): PartEdits | null {
    const edits = new Map<number, ContentBlock | null>();
    let next = 0;
    let stands = false;
    for (const block of parts) {
      const found = left[next];
      const isLeft = found?.origin === block.origin;
      if (isLeft) next += 1;
      const now = isLeft && !this.#isOrphan(found) ? found : null;
      stands ||= now !== null;
      if (now !== block) edits.set(block.origin[1], now);
    }
    return stands ? edits : null;
  }

  /** What a message stands as that says what the recorded one says; `null` when nothing of it is left. */
  #rewrite({ index, edits }: GivenMessage<Message>, given: Message): Message | null {
    if (edits === null || edits.size === 0) return edits && given;
    try {
      return this.#format.rewrite(given, edits);
    } catch (cause) {
      throw new TypeError(`Expected message ${index} to be as it was when it was read.`, { cause });
    }
  }

  /** Whether a block belongs to a call that an edit took away: without it, providers refuse the block. */
  #isOrphan(block: PlacedBlock): boolean {
    return (
      block.type === 'opaque' &&
      block.callId !== undefined &&
      this.#standingCalls.get(block.callId) === 0
    );
  }

  /**
   * The places of a history: messages in the order of its entries, pinned ones where they were among
   * them. What was written stands behind pinned messages that follow the one before it.
   */
  *#arrange(history: readonly IContent[]): Generator<void, Place<Message>[], undefined> {
    const written = new Map<IContent, WrittenMessage<Message>>();
    for (const place of this.#places) if ('entry' in place) written.set(place.entry, place);
    const places: Place<Message>[] = [];
    let next = 0;
    const placeUpTo = (index: number): void => {
      for (; next <= index; next += 1) {
        const record = this.#records[next];
        if (record !== undefined && record.standing !== null) places.push(record);
      }
    };
    for (const [at, entry] of history.entries()) {
      if (at % PER_SLICE === 0) yield;
      for (const block of entry.blocks) if (isPlaced(block)) placeUpTo(block.origin[0]);
      if (entry.blocks.length === 0 || entry.blocks.some(isPlaced)) continue;
      while (isPinned(this.#records[next])) placeUpTo(next);
      const known = written.get(entry);
      places.push(known ?? { entry, standing: writeEntry(this.#format, entry, this.#given) });
    }
    placeUpTo(this.#records.length - 1);
    return places;
  }

  #place(places: Place<Message>[]): void {
    this.#places = places;
    this.#standing = [];
    for (const { standing } of places) if (standing !== null) this.#standing.push(standing);
  }
}
