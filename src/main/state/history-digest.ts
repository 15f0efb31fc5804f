// Fingerprints a history by its added entries: one byte of each entry's hash, and checkpoints of a running hash over all entries.
// Entries are hashed on demand, or in the background once a caller says so. Until then references are kept, which costs nothing while
// the history holds the entries.

import { createHash, hash } from 'node:crypto';
import type { IContent } from '../../shared/content.js';
import { ByteWriter } from '../../shared/state/packed-bytes.js';
import { textOfEntry } from '../../shared/state/canonical-text.js';
import { setImmediate } from '../waiting/event-loop-turn.js';

/** Entries between two checkpoints. */
const CHECKPOINT_ENTRIES = 64;
/** Length of a checkpoint in bytes: enough to rule out collisions. */
const CHECKPOINT_BYTES = 16;
/** Time for background hashing per turn of the event loop, in milliseconds. */
const SLICE_MS = 2;
/** Maximum number of entries that wait, in case the event loop never turns; beyond it, each request hashes a few at once. */
const MAX_WAITING = 4_096;
const ADVANCE_WHEN_FULL = 4;

/** The fingerprint of a history. */
export interface HistoryDigests {
  /** Number of entries added. */
  readonly entries: number;
  /** One byte per entry. */
  readonly bytes: Uint8Array;
  /** The running hash at each checkpoint and at the end, 16 bytes each. */
  readonly places: Uint8Array;
}

/** A cache of entries' hashes, as binary strings, which take far less memory than buffers. Holds entries weakly. */
export type EntryDigests = WeakMap<IContent, string>;

/** The fingerprint of one history, built entry by entry. */
export class HistoryDigest {
  readonly #known: EntryDigests | undefined;
  readonly #runningHash = createHash('sha256');
  /** Hashes not passed to the running hash yet: they are passed in bulk. */
  #pending = '';
  readonly #bytes = new ByteWriter();
  readonly #places = new ByteWriter();
  /** Maps a number of entries (powers of two) to the running hash over these entries. */
  readonly #names = new Map<number, string>();
  /** Entries that the running hash has not reached yet, in order. */
  #queue: (IContent | undefined)[] = [];
  /** Index of the first item of the queue; those before it are `undefined`. */
  #next = 0;
  /** Number of entries to hash in the background, from the first on. */
  #due = 0;
  #timer: NodeJS.Immediate | undefined;

  /** @param known a cache of hashes to use and fill */
  constructor(known?: EntryDigests) {
    this.#known = known;
  }

  /** Adds the next entry, which is hashed later. */
  add(entry: IContent): void {
    this.#queue.push(entry);
  }

  /** Hashes the entries added so far in the next turns of the event loop, after which they are released. */
  settleSoon(): void {
    for (let step = 0; step < ADVANCE_WHEN_FULL && this.#waiting > MAX_WAITING; step += 1)
      this.#advance();
    this.#due = this.#bytes.length + this.#waiting;
    if (this.#timer === undefined) this.#timer = setImmediate(this.#settleSlice);
  }

  get #waiting(): number {
    return this.#queue.length - this.#next;
  }

  /** The fingerprint. Hashes all entries that are not hashed yet. */
  get digests(): HistoryDigests {
    this.settle();
    const places = new ByteWriter();
    places.bytes(this.#places.view());
    places.bytes(this.#checkpoint());
    return {
      entries: this.#bytes.length,
      bytes: this.#bytes.view().slice(),
      places: places.view().slice(),
    };
  }

  /** Keys for the prefixes of 1, 2, 4, … entries, ascending. Hashes all entries that are not hashed yet. */
  get names(): readonly string[] {
    this.settle();
    return [...this.#names.values()];
  }

  /** Hashes all entries that are not hashed yet. */
  settle(): void {
    while (this.#advance());
  }

  /** Like `settle`, yielding in between. */
  *settleInSlices(): Generator<void, void, undefined> {
    for (let entered = 1; this.#advance(); entered += 1) if (entered % 8 === 0) yield;
  }

  readonly #settleSlice = (): void => {
    const end = performance.now() + SLICE_MS;
    try {
      while (this.#bytes.length < this.#due && performance.now() < end) this.#advance();
    } catch {
      // The host has changed an entry since it was added. Whoever asks for the fingerprint gets the error.
      this.#due = 0;
    }
    const isMore = this.#bytes.length < this.#due;
    this.#timer = isMore ? setImmediate(this.#settleSlice) : undefined;
  };

  /** Advances the running hash by one entry; returns `false` at the end of the queue. */
  #advance(): boolean {
    const entry = this.#queue[this.#next];
    if (entry === undefined) {
      this.#queue = [];
      this.#next = 0;
      return false;
    }
    const digest = this.#digestOf(entry);
    this.#queue[this.#next] = undefined;
    this.#next += 1;
    this.#append(digest);
    // Drop processed items in bulk: amortized, each item is moved about once.
    if (this.#next > CHECKPOINT_ENTRIES && 2 * this.#next > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#next);
      this.#next = 0;
    }
    return true;
  }

  #digestOf(entry: IContent): string {
    const digest = this.#known?.get(entry) ?? hash('sha256', textOfEntry(entry), 'binary');
    this.#known?.set(entry, digest);
    return digest;
  }

  #append(digest: string): void {
    this.#pending += digest;
    this.#bytes.byte(digest.charCodeAt(0));
    const { length } = this.#bytes;
    const isCheckpoint = length % CHECKPOINT_ENTRIES === 0;
    const isPower = Number.isInteger(Math.log2(length));
    if (!isCheckpoint && !isPower) return;
    const over = this.#checkpoint();
    if (isCheckpoint) this.#places.bytes(over);
    if (isPower) this.#names.set(length, over.toString('hex'));
  }

  #checkpoint(): Buffer {
    this.#runningHash.update(this.#pending, 'binary');
    this.#pending = '';
    return this.#runningHash.copy().digest().subarray(0, CHECKPOINT_BYTES);
  }
}

/**
 * Returns the index of the first differing entry, up to the shorter length; that length if there is none. A differing
 * checkpoint proves that its block of entries differs; within the block, the entry is found by its byte.
 */
export function firstDifferingEntry(a: HistoryDigests, b: HistoryDigests): number {
  const entries = Math.min(a.entries, b.entries);
  if (a.entries === b.entries && areEqual(a.places, b.places, 0, a.places.length)) return entries;
  const wholeBlocks = Math.floor(entries / CHECKPOINT_ENTRIES);
  let place = 0;
  while (
    place < wholeBlocks &&
    areEqual(a.places, b.places, place * CHECKPOINT_BYTES, (place + 1) * CHECKPOINT_BYTES)
  )
    place += 1;
  const start = place * CHECKPOINT_ENTRIES;
  const end = Math.min(entries, start + CHECKPOINT_ENTRIES);
  for (let at = start; at < end; at += 1) if (a.bytes[at] !== b.bytes[at]) return at;
  // A checkpoint differs but no byte does: no entry of the block can be trusted.
  return place < wholeBlocks || a.entries === b.entries ? start : entries;
}

function areEqual(a: Uint8Array, b: Uint8Array, start: number, end: number): boolean {
  return Buffer.compare(a.subarray(start, end), b.subarray(start, end)) === 0;
}
