// Fingerprints a history by its added entries: one byte of each entry's hash, and checkpoints of a running hash over all entries.
// Entries are hashed lazily: on demand, or soon after they leave the history; in the background only if a digest is sure to be
// needed. Until then a reference is kept, which costs nothing while the history holds the entry.

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
/** Maximum number of entries that have left and are not hashed yet, in case the event loop never turns. */
const MAX_LEAVING = 4_096;
/** Maximum entries that the running hash advances by when an entry leaves; more than one, so that it catches up. */
const ADVANCE_PER_LEAVE = 4;

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

export interface HistoryDigestOptions {
  /** A cache of hashes to use and fill. */
  readonly known?: EntryDigests | undefined;
  /** Whether entries are hashed when idle, as they come in. @default false */
  readonly isHashedAhead?: boolean | undefined;
}

/** The fingerprint of one history, built entry by entry. */
export class HistoryDigest {
  readonly #known: EntryDigests | undefined;
  readonly #isHashedAhead: boolean;
  readonly #runningHash = createHash('sha256');
  /** Hashes not passed to the running hash yet: they are passed in bulk. */
  #pending = '';
  readonly #bytes = new ByteWriter();
  readonly #places = new ByteWriter();
  /** Maps a number of entries (powers of two) to the running hash over these entries. */
  readonly #names = new Map<number, string>();
  /**
   * What the running hash has not reached yet, in order: entries, or hashes of entries that have left. The queue could be avoided by
   * advancing to the last entry that leaves, but edits land near the end, so nearly all entries would be hashed.
   */
  #queue: (IContent | string | undefined)[] = [];
  /** Index of the first item of the queue; those before it are `undefined`. */
  #next = 0;
  /** Number of hashes in the queue. */
  #hashesQueued = 0;
  /** Position in the queue by entry. Filled only when an entry leaves, because many histories are never edited. */
  readonly #positions = new Map<IContent, number>();
  /** Length of the part of the queue that `#positions` covers. */
  #indexed = 0;
  /** Entries that have left and are not hashed yet, because hashing them at once would delay the edit. */
  readonly #leaving = new Set<IContent>();
  #timer: NodeJS.Immediate | undefined;

  constructor({ known, isHashedAhead = false }: HistoryDigestOptions = {}) {
    this.#known = known;
    this.#isHashedAhead = isHashedAhead;
  }

  /** Adds the next entry, which is hashed later. */
  add(entry: IContent): void {
    this.#queue.push(entry);
    if (this.#isHashedAhead) this.#settleSoon();
  }

  /** Notes that an entry leaves the history: it is hashed in the next turn of the event loop, then released. */
  leave(entry: IContent): void {
    this.#leaving.add(entry);
    if (this.#leaving.size > MAX_LEAVING) this.#hashLeaving();
    this.#settleSoon();
  }

  #settleSoon(): void {
    if (this.#timer === undefined) this.#timer = setImmediate(this.#settleSlice);
  }

  /** Hashes one entry that has left; returns `false` if there is none. */
  #hashLeaving(): boolean {
    const [entry] = this.#leaving;
    if (entry === undefined) return false;
    this.#leaving.delete(entry);
    this.#indexQueue();
    const at = this.#positions.get(entry);
    if (at === undefined) return true;
    this.#positions.delete(entry);
    if (this.#queue[at] === undefined) return true;
    this.#queue[at] = this.#digestOf(entry);
    this.#hashesQueued += 1;
    // In an endless session whose digest nobody needs, keep the number of queued hashes below that of live entries.
    for (let step = 0; step < ADVANCE_PER_LEAVE && this.#isMostlyHashes; step += 1) this.#advance();
    return true;
  }

  get #isMostlyHashes(): boolean {
    return (
      this.#hashesQueued > CHECKPOINT_ENTRIES &&
      2 * this.#hashesQueued > this.#queue.length - this.#next
    );
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
    let isMore = true;
    while (isMore && performance.now() < end)
      isMore = this.#hashLeaving() || (this.#isHashedAhead && this.#advance());
    this.#timer = isMore ? setImmediate(this.#settleSlice) : undefined;
  };

  /** Advances the running hash by one entry; returns `false` at the end of the queue. */
  #advance(): boolean {
    const waiting = this.#queue[this.#next];
    if (waiting === undefined) {
      this.#queue = [];
      this.#next = 0;
      this.#positions.clear();
      this.#indexed = 0;
      return false;
    }
    this.#queue[this.#next] = undefined;
    this.#next += 1;
    if (typeof waiting === 'string') this.#hashesQueued -= 1;
    this.#append(typeof waiting === 'string' ? waiting : this.#digestOf(waiting));
    if (this.#next > CHECKPOINT_ENTRIES && 2 * this.#next > this.#queue.length) this.#compact();
    return true;
  }

  /** Drops processed items in bulk: amortized, each item is moved about once. */
  #compact(): void {
    const waiting = this.#queue.slice(this.#next);
    this.#indexed = Math.max(0, this.#indexed - this.#next);
    this.#next = 0;
    this.#queue = waiting;
    this.#positions.clear();
    for (let at = 0; at < this.#indexed; at += 1) {
      const entry = waiting[at];
      if (typeof entry === 'object') this.#positions.set(entry, at);
    }
  }

  /** Indexes the queue; visits each item only once, however often entries leave. */
  #indexQueue(): void {
    for (; this.#indexed < this.#queue.length; this.#indexed += 1) {
      const entry = this.#queue[this.#indexed];
      if (entry === undefined || typeof entry === 'string') continue;
      // An entry that was added twice is indexed once.
      if (this.#positions.has(entry)) {
        this.#queue[this.#indexed] = this.#digestOf(entry);
        this.#hashesQueued += 1;
      } else this.#positions.set(entry, this.#indexed);
    }
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
export function firstDifference(a: HistoryDigests, b: HistoryDigests): number {
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
  for (let at = start; at < end; at += 1) if (a[at] !== b[at]) return false;
  return true;
}
