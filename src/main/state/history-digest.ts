// Tells a history by what was added to it: one byte of each entry's hash, and a hash over all of them at places. An entry is
// hashed when somebody asks, or soon after it leaves the history, and in the background only where somebody is sure to ask; until
// then it is kept as it was added, and the history has it all the same.

import { createHash, hash } from 'node:crypto';
import type { IContent } from '../../shared/content.js';
import { ByteWriter } from '../../shared/state/packed-bytes.js';
import { textOfEntry } from '../../shared/state/plain-text.js';
import { setImmediate } from '../waiting/event-loop-turn.js';

/** Entries between two places. */
const PLACE_ENTRIES = 64;
/** Bytes of the hash at a place: enough that nobody finds another history with the same. */
const PLACE_BYTES = 16;
/** A turn of the event loop is not used for longer than that. */
const SLICE_MS = 2;
/** Entries that may have left and are not hashed yet, for the event loop may never turn. */
const MAX_LEAVING = 4_096;
/** Entries that the hash over all may reach when one leaves: more than one, so that it catches up. */
const STEPS_PER_LEAVE = 4;

/** What is kept of a history to tell it from others. */
export interface HistoryDigests {
  /** Entries that were added. */
  readonly entries: number;
  /** A byte of each. */
  readonly bytes: Uint8Array;
  /** Sixteen bytes over all entries up to each place, and over all of them. */
  readonly places: Uint8Array;
}

/** The hashes of entries that may be asked for again, a character for each byte: far smaller than a buffer. Keeps no entry. */
export type EntryDigests = WeakMap<IContent, string>;

export interface HistoryDigestOptions {
  /** Hashes that need not be made again; takes in those that are made. */
  readonly known?: EntryDigests | undefined;
  /** Whether entries are hashed while nothing else is to do, as they come in. @default false */
  readonly isHashedAhead?: boolean | undefined;
}

/** The digest of one history, entry by entry. */
export class HistoryDigest {
  readonly #known: EntryDigests | undefined;
  readonly #isHashedAhead: boolean;
  readonly #over = createHash('sha256');
  /** Hashes that it has still to take in, a few at a time. */
  #entered = '';
  readonly #bytes = new ByteWriter();
  readonly #places = new ByteWriter();
  /** By entries, as many as a power of two, the hash over them. */
  readonly #names = new Map<number, string>();
  /**
   * What the hash over all has not reached yet, in the order of addition: entries, and hashes of those that have left. Hashing
   * all up to the last one that leaves would need no places, but edits land near the end: it would hash nearly all.
   */
  #waiting: (IContent | string | undefined)[] = [];
  /** The first of those; what stands before it is `undefined`. */
  #next = 0;
  /** Hashes among those. */
  #left = 0;
  /** By entry, where it waits. Made when the first one leaves; many histories are never edited. */
  readonly #waitingAt = new Map<IContent, number>();
  /** Up to here the waiting ones are in it. */
  #found = 0;
  /** Entries that have left and are not hashed yet: nobody waits for that, and somebody does for the edit. */
  readonly #leaving = new Set<IContent>();
  #timer: NodeJS.Immediate | undefined;

  constructor({ known, isHashedAhead = false }: HistoryDigestOptions = {}) {
    this.#known = known;
    this.#isHashedAhead = isHashedAhead;
  }

  /** Notes the next entry, which is looked at later. */
  add(entry: IContent): void {
    this.#waiting.push(entry);
    if (this.#isHashedAhead) this.#settleSoon();
  }

  /** Notes that an entry leaves the history: it is hashed when the event loop turns, and not kept any more. */
  leave(entry: IContent): void {
    this.#leaving.add(entry);
    if (this.#leaving.size > MAX_LEAVING) this.#hashLeaving();
    this.#settleSoon();
  }

  #settleSoon(): void {
    if (this.#timer === undefined) this.#timer = setImmediate(this.#settleSlice);
  }

  /** Hashes one that has left; returns `false` when there is none. */
  #hashLeaving(): boolean {
    const [entry] = this.#leaving;
    if (entry === undefined) return false;
    this.#leaving.delete(entry);
    this.#findWaiting();
    const at = this.#waitingAt.get(entry);
    if (at === undefined) return true;
    this.#waitingAt.delete(entry);
    if (this.#waiting[at] === undefined) return true;
    this.#waiting[at] = this.#digestOf(entry);
    this.#left += 1;
    // A session of which nobody asks may go on for ever: of what has left no more waits than of what stands.
    for (let step = 0; step < STEPS_PER_LEAVE && this.#isMostlyLeft; step += 1) this.#enterNext();
    return true;
  }

  get #isMostlyLeft(): boolean {
    return this.#left > PLACE_ENTRIES && 2 * this.#left > this.#waiting.length - this.#next;
  }

  /** What the entries come to. Looks at those that nobody has looked at yet. */
  get digests(): HistoryDigests {
    this.settle();
    const places = new ByteWriter();
    places.bytes(this.#places.view());
    places.bytes(this.#overAll());
    return {
      entries: this.#bytes.length,
      bytes: this.#bytes.view().slice(),
      places: places.view().slice(),
    };
  }

  /** Names for the beginnings of the history: by its first 1, 2, 4, … entries, ascending. */
  get names(): readonly string[] {
    this.settle();
    return [...this.#names.values()];
  }

  /** Looks at all entries that nobody has looked at yet. */
  settle(): void {
    while (this.#enterNext());
  }

  /** The same, yielding where others may have a turn. */
  *settleInSlices(): Generator<void, void, undefined> {
    for (let entered = 1; this.#enterNext(); entered += 1) if (entered % 8 === 0) yield;
  }

  readonly #settleSlice = (): void => {
    const end = performance.now() + SLICE_MS;
    let isMore = true;
    while (isMore && performance.now() < end)
      isMore = this.#hashLeaving() || (this.#isHashedAhead && this.#enterNext());
    this.#timer = isMore ? setImmediate(this.#settleSlice) : undefined;
  };

  /** Has the hash over all reach the next entry; returns `false` when there is none. */
  #enterNext(): boolean {
    const waiting = this.#waiting[this.#next];
    if (waiting === undefined) {
      this.#waiting = [];
      this.#next = 0;
      this.#waitingAt.clear();
      this.#found = 0;
      return false;
    }
    this.#waiting[this.#next] = undefined;
    this.#next += 1;
    if (typeof waiting === 'string') this.#left -= 1;
    this.#enter(typeof waiting === 'string' ? waiting : this.#digestOf(waiting));
    if (this.#next > PLACE_ENTRIES && 2 * this.#next > this.#waiting.length) this.#dropEntered();
    return true;
  }

  /** Those that the hash has reached are forgotten in bulk, so that each is moved about once. */
  #dropEntered(): void {
    const waiting = this.#waiting.slice(this.#next);
    this.#found = Math.max(0, this.#found - this.#next);
    this.#next = 0;
    this.#waiting = waiting;
    this.#waitingAt.clear();
    for (let at = 0; at < this.#found; at += 1) {
      const entry = waiting[at];
      if (typeof entry === 'object') this.#waitingAt.set(entry, at);
    }
  }

  /** Looks at each waiting one once, however often entries leave. */
  #findWaiting(): void {
    for (; this.#found < this.#waiting.length; this.#found += 1) {
      const entry = this.#waiting[this.#found];
      if (entry === undefined || typeof entry === 'string') continue;
      // What was added twice waits at one place only.
      if (this.#waitingAt.has(entry)) {
        this.#waiting[this.#found] = this.#digestOf(entry);
        this.#left += 1;
      } else this.#waitingAt.set(entry, this.#found);
    }
  }

  #digestOf(entry: IContent): string {
    const digest = this.#known?.get(entry) ?? hash('sha256', textOfEntry(entry), 'binary');
    this.#known?.set(entry, digest);
    return digest;
  }

  #enter(digest: string): void {
    this.#entered += digest;
    this.#bytes.byte(digest.charCodeAt(0));
    const { length } = this.#bytes;
    const isPlace = length % PLACE_ENTRIES === 0;
    const isPower = Number.isInteger(Math.log2(length));
    if (!isPlace && !isPower) return;
    const over = this.#overAll();
    if (isPlace) this.#places.bytes(over);
    if (isPower) this.#names.set(length, over.toString('hex'));
  }

  #overAll(): Buffer {
    this.#over.update(this.#entered, 'binary');
    this.#entered = '';
    return this.#over.copy().digest().subarray(0, PLACE_BYTES);
  }
}

/**
 * Returns the index of the first entry that differs, of as many as both have: a place that differs is found for
 * certain, and in it the entry by its byte. As many when none does.
 */
export function firstDifference(a: HistoryDigests, b: HistoryDigests): number {
  const entries = Math.min(a.entries, b.entries);
  if (a.entries === b.entries && isSame(a.places, b.places, 0, a.places.length)) return entries;
  const wholePlaces = Math.floor(entries / PLACE_ENTRIES);
  let place = 0;
  while (
    place < wholePlaces &&
    isSame(a.places, b.places, place * PLACE_BYTES, (place + 1) * PLACE_BYTES)
  )
    place += 1;
  const start = place * PLACE_ENTRIES;
  const end = Math.min(entries, start + PLACE_ENTRIES);
  for (let at = start; at < end; at += 1) if (a.bytes[at] !== b.bytes[at]) return at;
  // A place differs, and no byte in it: nothing there is sure to be the same.
  return place < wholePlaces || a.entries === b.entries ? start : entries;
}

function isSame(a: Uint8Array, b: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (a[at] !== b[at]) return false;
  return true;
}
