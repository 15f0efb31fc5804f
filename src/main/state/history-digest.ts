// Tells a history by what was added to it: one byte of each entry's hash, and a hash over all of them at places. Made while
// nothing else is to do, as entries come in; keeps an entry only until it is hashed.

import { createHash, hash } from 'node:crypto';
import type { IContent } from '../../shared/content.js';
import { ByteWriter } from '../../shared/state/packed-bytes.js';
import { textOfEntry } from '../../shared/state/plain-text.js';
import { clearImmediate, setImmediate } from '../waiting/immediate.js';

/** Entries between two places. */
const PLACE_ENTRIES = 64;
/** Bytes of the hash at a place: enough that nobody finds another history with the same. */
const PLACE_BYTES = 16;
/** A turn of the event loop is not used for longer than that. */
const SLICE_MS = 2;

/** What is kept of a history to tell it from others. */
export interface HistoryDigests {
  /** Entries that were added. */
  readonly entries: number;
  /** A byte of each. */
  readonly bytes: Uint8Array;
  /** Sixteen bytes over all entries up to each place, and over all of them. */
  readonly places: Uint8Array;
}

/** The hashes of entries that may be asked for again. */
export type EntryDigests = Map<IContent, Uint8Array>;

/** The digest of one history, entry by entry. */
export class HistoryDigest {
  readonly #known: EntryDigests | undefined;
  readonly #over = createHash('sha256');
  readonly #bytes = new ByteWriter();
  readonly #places = new ByteWriter();
  /** By entries, as many as a power of two, the hash over them. */
  readonly #names = new Map<number, string>();
  #pending: IContent[] = [];
  #timer: NodeJS.Immediate | undefined;

  /** @param known hashes that need not be made again; takes in those that are made */
  constructor(known?: EntryDigests) {
    this.#known = known;
  }

  /** Notes the next entry, which is looked at later. */
  add(entry: IContent): void {
    this.#pending.push(entry);
    this.#timer ??= setImmediate(() => {
      this.#timer = undefined;
      this.#settleSlice();
    });
  }

  /** What the entries come to. Looks at those that nobody has looked at yet. */
  get digests(): HistoryDigests {
    this.settle();
    const places = new ByteWriter();
    places.bytes(this.#places.view());
    places.bytes(this.#over.copy().digest().subarray(0, PLACE_BYTES));
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
    clearImmediate(this.#timer);
    this.#timer = undefined;
    for (const entry of this.#pending) this.#enter(entry);
    this.#pending = [];
  }

  /** The same, yielding after each of them. */
  *settleInSlices(): Generator<void, void, undefined> {
    clearImmediate(this.#timer);
    this.#timer = undefined;
    const pending = this.#pending;
    this.#pending = [];
    for (const entry of pending) {
      this.#enter(entry);
      yield;
    }
  }

  #settleSlice(): void {
    const end = performance.now() + SLICE_MS;
    let done = 0;
    while (done < this.#pending.length && performance.now() < end) {
      this.#enter(this.#pending[done] as IContent);
      done += 1;
    }
    this.#pending = this.#pending.slice(done);
    if (this.#pending.length === 0) return;
    this.#timer = setImmediate(() => {
      this.#timer = undefined;
      this.#settleSlice();
    });
  }

  #enter(entry: IContent): void {
    const digest = this.#known?.get(entry) ?? hash('sha256', textOfEntry(entry), 'buffer');
    this.#known?.set(entry, digest);
    this.#over.update(digest);
    this.#bytes.byte(digest[0] ?? 0);
    const { length } = this.#bytes;
    const isPlace = length % PLACE_ENTRIES === 0;
    const isPower = Number.isInteger(Math.log2(length));
    if (!isPlace && !isPower) return;
    const over = this.#over.copy().digest().subarray(0, PLACE_BYTES);
    if (isPlace) this.#places.bytes(over);
    if (isPower) this.#names.set(length, over.toString('hex'));
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
