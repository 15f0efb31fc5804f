// Holds the messages of one conversation in their current state: reads new messages as entries, and applies edits of entries to
// the messages that the entries came from. Runs no compaction.

import type { EntryChange } from '../../main/history-change.js';
import { isProviderEntry } from '../../main/strategies/provider-compaction.js';
import type { IContent, Speaker } from '../../shared/content.js';
import { runSlices } from '../../shared/slices.js';
import type { MessageFormat, Origin, PlacedBlock, Reading } from '../format/message-format.js';
import { cacheMarksText, MARKED_MESSAGES, withoutCacheMarks } from '../format/cache-marks.js';
import { arrangeMessages, OPENING, OPENING_TOKENS, withOpening } from './arrange-messages.js';
import { Dependents } from './dependents.js';
import { divideMessages } from './divide-messages.js';
import type { Division } from './divide-messages.js';
import { isAtOrBehind, isPinned, lengthOf, NO_EDITS, NO_PARTS } from '../format/message-place.js';
import type {
  GivenMessage,
  KnownMessages,
  Place,
  ReadAhead,
  WrittenMessage,
} from '../format/message-place.js';
import { editsOf, findChangedMessages, isPlaced, PER_SLICE } from '../format/placed.js';
import { writeEntry } from '../format/provider-compaction.js';
import { ConversationReader, readAlone } from './read-in-slices.js';
import { isSameList } from '../format/same-value.js';

/** Thrown if a message was changed after it was read, so that edits no longer apply to it. */
export class ChangedMessageError extends TypeError {
  constructor(index: number, cause: unknown) {
    super(`Expected message ${index} to be as it was when it was read.`, { cause });
    this.name = 'TypeError';
  }
}

export class MessageView<Message> {
  readonly #format: MessageFormat<Message>;
  readonly #reader: ConversationReader<Message>;
  readonly #given: Message[] = [];
  readonly #records: GivenMessage<Message>[] = [];
  readonly #dependents = new Dependents<GivenMessage<Message>>();
  /** Cache marks, as text, of edited messages that have some: an LRU of at most `MARKED_MESSAGES`. */
  readonly #marks = new Map<GivenMessage<Message>, string>();
  #places: Place<Message>[] = [];
  #current: Message[] = [];
  #pinnedTokens = 0;
  /** `openFrom` of the last reading: where an incomplete exchange begins. */
  #openFrom: number | undefined;
  #isWaiting = false;
  /** Whether there is a pinned message that providers may refuse as the first one (`mayNotOpen`). */
  #mayNeedOpening = false;
  /** Index of the first message that lost a document. From there on, citations by number are removed, also from future messages. */
  #firstLost = Infinity;

  constructor(format: MessageFormat<Message>) {
    this.#format = format;
    this.#reader = new ConversationReader(format);
  }

  /** All messages as the caller passed them. The list grows with each reading. */
  get given(): readonly Message[] {
    return this.#given;
  }

  /** The messages after all edits. The list changes with every read and edit. */
  get current(): readonly Message[] {
    return this.#current;
  }

  /** `given` and `current`, with the places of their messages. */
  get knownLists(): readonly [
    KnownMessages<Message, GivenMessage<Message>>,
    KnownMessages<Message>,
  ] {
    return [
      { messages: this.#given, places: this.#records },
      { messages: this.#current, places: this.#places },
    ];
  }

  /** Estimated tokens of pinned messages, and of the opening if they may need one. */
  get pinnedTokens(): number {
    return this.#pinnedTokens + (this.#mayNeedOpening ? OPENING_TOKENS : 0);
  }

  /**
   * Reads further messages. No other reading may begin until this generator and that of the commit have ended.
   *
   * @throws TypeError naming the message, if it is invalid or does not fit into a history. The view is unchanged then.
   */
  *readInSlices(messages: readonly Message[]): Generator<void, ReadAhead<Message>, undefined> {
    const reading = yield* this.#reader.read(messages, this.#given);
    return {
      entries: reading.entries,
      commitInSlices: () => this.#commit(messages, reading),
    };
  }

  *#commit(
    messages: readonly Message[],
    { entries, pinnedTokens, openFrom }: Reading,
  ): Generator<void, readonly Place<Message>[], undefined> {
    this.#pinnedTokens += pinnedTokens;
    this.#openFrom = openFrom;
    const records: GivenMessage<Message>[] = [];
    for (const given of messages) {
      if (records.push(this.#append(given)) % PER_SLICE === 0) yield;
    }
    let added = 0;
    for (const entry of entries) {
      for (const block of entry.blocks) this.#addBlock(block, entry.speaker);
      added += 1;
      if (added % PER_SLICE === 0) yield;
    }
    this.#mayNeedOpening ||= records.some(
      (record) => isPinned(record) && this.#format.mayNotOpen?.(record.given) === true,
    );
    return records;
  }

  /**
   * Replaces known messages by other objects with the same content, so that a caller that rebuilds its messages gets its own
   * objects back, with edits applied.
   *
   * @param which indices of the messages to replace
   */
  adopt(
    { messages, places }: KnownMessages<Message>,
    now: readonly Message[],
    which: Iterable<number>,
  ): void {
    let isChanged = false;
    for (const at of which) {
      const [place, message, former] = [places[at], now[at], messages[at]];
      if (place === undefined || message === undefined || message === former) continue;
      isChanged = true;
      if (!('entry' in place) && place.given === former) this.#replaceGiven(place, message);
      else if (place.current === former) {
        // The caller continues with the returned message, so the cache marks of its original are outdated.
        if (!('entry' in place)) this.#replaceGiven(place, withoutCacheMarks(place.given));
        place.current = message;
      }
    }
    if (isChanged) this.#setPlaces(this.#places);
  }

  /** Returns the messages with all that were given in place of the known ones. */
  originalsOf(known: KnownMessages<Message>, messages: readonly Message[]): readonly Message[] {
    this.adopt(known, messages, known.places.keys());
    return [...this.#given, ...messages.slice(known.places.length)];
  }

  /** Moves cache marks of edited messages to where the caller has moved them within the messages that it passed. */
  followCacheMarks(): void {
    const recent = this.#records.slice(-MARKED_MESSAGES);
    for (const record of new Set([...this.#marks.keys(), ...recent])) {
      const { given, current: former } = record;
      if (former === null || former === given) continue;
      if (cacheMarksText(given) === (this.#marks.get(record) ?? '')) continue;
      record.current = this.#rewriteMarked(record);
      if (record.current === null) continue;
      this.#current[this.#current.lastIndexOf(former)] = record.current;
    }
  }

  #rewriteMarked(record: GivenMessage<Message>): Message | null {
    const marks = cacheMarksText(record.given);
    this.#marks.delete(record);
    if (marks !== '') this.#marks.set(record, marks);
    const [oldest] = this.#marks.keys();
    if (oldest !== undefined && this.#marks.size > MARKED_MESSAGES) this.#marks.delete(oldest);
    return this.#rewrite(record, record.given);
  }

  /** Returns a new list of the current messages with the caller's copies, which the view does not keep, in place of the known objects. */
  currentAs(
    { messages, places }: KnownMessages<Message>,
    copies: readonly Message[],
    otherMarks: readonly number[] = [],
  ): Message[] {
    const current = [...this.#current];
    let at = 0;
    for (let position = 0; position < current.length; position += 1) {
      const place = this.#places[position];
      if (place === undefined || 'entry' in place) continue;
      // Both lists of places are in the order of the given messages, so one pass over both suffices.
      while (at < places.length && !isAtOrBehind(places[at], place)) at += 1;
      const copy = copies[at];
      if (places[at] !== place || copy === undefined || copy === messages[at]) continue;
      if (place.current === messages[at]) current[position] = copy;
      // If every part is edited, only the cache marks could come from the copy.
      else if (place.given === messages[at]) {
        if (place.edits?.size === place.parts.length && !otherMarks.includes(at)) continue;
        current[position] = this.#rewrite(place, copy) ?? copy;
      }
    }
    return current;
  }

  /** Applies an edit that replaced entries in place or removed them. */
  applyChanges(changes: readonly EntryChange[]): void {
    const edited = new Map<Origin, PlacedBlock | null>();
    const removed = new Set<IContent>();
    for (const { before, after } of changes) {
      if (after === null) removed.add(before);
      for (const block of before.blocks) {
        if (isPlaced(block)) edited.set(block.origin, null);
      }
      for (const block of after?.blocks ?? []) {
        if (isPlaced(block)) edited.set(block.origin, block);
      }
    }
    const touched = new Set([...edited.keys()].flatMap(([index]) => this.#records[index] ?? []));
    for (const record of touched) {
      this.#setRemaining(
        record,
        record.remaining.flatMap((block) => {
          const now = edited.get(block.origin);
          return now === undefined ? block : (now ?? []);
        }),
      );
    }
    runSlices(this.#rewriteTouched(touched));
    runSlices(this.#removeCitations(touched));
    const places = this.#places.filter((place) =>
      'entry' in place ? !removed.has(place.entry) : place.current !== null,
    );
    this.#setPlaces(places);
  }

  /**
   * Applies an edit that replaced the whole history. Linear in blocks and messages. Nothing else may change the view or `history`
   * until the generator ends.
   */
  *followInSlices(history: readonly IContent[]): Generator<void, void, undefined> {
    const touched = new Set<GivenMessage<Message>>();
    const { isUnchanged, blocks, hasWritten } = yield* findChangedMessages(this.#records, history);
    for (const record of this.#records) {
      if (isUnchanged[record.index] === 1) continue;
      const now = record.parts.flatMap(({ origin }) => blocks.get(origin) ?? []);
      if (isSameList(now, record.remaining)) continue;
      this.#setRemaining(record, now);
      if (touched.add(record).size % PER_SLICE === 0) yield;
    }
    yield* this.#rewriteTouched(touched);
    // Citations of what a provider's compaction replaced are kept: the messages behind it must stay unchanged.
    if (!history.slice(0, 1).some(isProviderEntry)) yield* this.#removeCitations(touched);
    const { places, waiting } = hasWritten
      ? yield* arrangeMessages(
          this.#records,
          this.#written(),
          history,
          this.#format,
          this.#openFrom,
        )
      : { places: this.#records, waiting: [] };
    this.#isWaiting = waiting.length > 0;
    this.#setPlaces(places.filter(({ current }) => current !== null));
  }

  /** Whether written messages were held back for an exchange that is complete now, so that the history has to be followed again. */
  get mustFollowAgain(): boolean {
    return this.#isWaiting && this.#openFrom === undefined;
  }

  /** See `divideMessages`. */
  divide(history: readonly IContent[], tailStart: number): Division<Message> | null {
    return divideMessages(this.#places, history, tailStart, this.#format);
  }

  #replaceGiven(record: GivenMessage<Message>, given: Message): void {
    // Instructions may have changed in length.
    if (isPinned(record) && this.#format.isInstruction?.(given) === true) {
      const [now, then] = [given, record.given].map((each) => readAlone(this.#format, each));
      this.#pinnedTokens += (now?.pinnedTokens ?? 0) - (then?.pinnedTokens ?? 0);
    }
    record.given = given;
    record.length = lengthOf(given);
    this.#given[record.index] = given;
    record.current = this.#rewriteMarked(record);
  }

  #append(given: Message): GivenMessage<Message> {
    const index = this.#records.length;
    const current = this.#withValidCitations(index, given);
    const edited = { parts: NO_PARTS, remaining: NO_PARTS, edits: NO_EDITS, current };
    const record = { index, given, length: lengthOf(given), speaker: undefined, ...edited };
    this.#given.push(given);
    this.#records.push(record);
    this.#places.push(record);
    this.#current.push(current);
    return record;
  }

  #addBlock(block: PlacedBlock, speaker: Speaker): void {
    const record = this.#records[block.origin[0]];
    if (record === undefined) return;
    if (record.speaker !== 'tool') record.speaker = speaker;
    // Most messages have one part, and pushing to an empty list would allocate room for many.
    if (record.parts.length === 0) record.parts = record.remaining = [block];
    else {
      // The lists differ if a pinned message lost its reasoning before its exchange was complete.
      if (record.remaining !== record.parts) record.remaining = [...record.remaining, block];
      record.parts.push(block);
    }
    this.#dependents.add(block, record);
  }

  #setRemaining(record: GivenMessage<Message>, remaining: readonly PlacedBlock[]): void {
    this.#dependents.change(record.remaining, remaining);
    record.remaining = remaining;
  }

  /** Rewrites the edited messages, and those that depend on a call in them. */
  *#rewriteTouched(touched: ReadonlySet<GivenMessage<Message>>): Generator<void, void, undefined> {
    const all = new Set<GivenMessage<Message>>();
    for (const record of touched) {
      all.add(record);
      if (all.size % PER_SLICE === 0) yield;
      for (const block of record.parts) {
        for (const dependent of this.#dependents.of(block)) all.add(dependent);
      }
    }
    let rewritten = 0;
    for (const record of all) {
      record.edits = editsOf(record, (block) => this.#dependents.isOrphan(block));
      record.current = this.#rewriteMarked(record);
      rewritten += 1;
      if (rewritten % PER_SLICE === 0) yield;
    }
  }

  /** Removes citations by number from the first message on that has lost a document. */
  *#removeCitations(touched: ReadonlySet<GivenMessage<Message>>): Generator<void, void, undefined> {
    const { citations } = this.#format;
    if (citations === undefined) return;
    const from = this.#firstLost;
    for (const { index, given, current } of touched) {
      if (index >= this.#firstLost) continue;
      const remaining = current === null ? 0 : citations.count(current);
      if (remaining < citations.count(given)) this.#firstLost = index;
    }
    for (const record of this.#records.slice(this.#firstLost, from)) {
      if (record.index % PER_SLICE === 0) yield;
      if (record.current !== null)
        record.current = this.#withValidCitations(record.index, record.current);
    }
  }

  #withValidCitations(index: number, message: Message): Message {
    if (index < this.#firstLost) return message;
    return this.#format.citations?.remove(message) ?? message;
  }

  /** Applies the record's edits to its message, or to a copy of the message. Returns `null` if nothing remains. */
  #rewrite(record: GivenMessage<Message>, given: Message): Message | null {
    const { index, edits } = record;
    if (edits === null) return null;
    try {
      if (given === record.given && lengthOf(given) < record.length)
        throw new RangeError(`It has had ${record.length} parts.`);
      const edited = edits.size === 0 ? given : this.#format.rewrite(given, edits);
      return this.#withValidCitations(index, edited);
    } catch (cause) {
      throw new ChangedMessageError(index, cause);
    }
  }

  /** Returns a function from an entry that ctxfold wrote to its message, which is made if there is none yet. */
  #written(): (entry: IContent) => WrittenMessage<Message> {
    const known = new Map<IContent, WrittenMessage<Message>>();
    for (const place of this.#places) if ('entry' in place) known.set(place.entry, place);
    return (entry) =>
      known.get(entry) ?? { entry, current: writeEntry(this.#format, entry, this.#given) };
  }

  #setPlaces(places: Place<Message>[]): void {
    this.#places = this.#mayNeedOpening
      ? withOpening(places, this.#format, () => this.#written()(OPENING))
      : places;
    this.#current = [];
    for (const { current } of this.#places) if (current !== null) this.#current.push(current);
  }
}
