// What a state says of the present entries of a history: their tokens, packed as bytes, and a key (a weak hash). A host that stores the
// entries as sent passes these to the next session, which recognizes them by the key. Both are read with each save, so only entries
// that changed since the last one are packed and hashed. Hashing runs in slices, because a process that has just loaded a history
// hashes all of it.

import type { IContent } from '../../shared/content.js';
import { firstEditedIndex } from '../../shared/density.js';
import { runSlices } from '../../shared/slices.js';
import { ByteReader, ByteWriter } from '../../shared/state/packed-bytes.js';
import type { HistoryChange } from '../history-change.js';
import type { HistoryService } from '../history-service.js';
import type { KnownTokens } from '../tokens/token-ledger.js';
import { traceKey, traceOn } from './journal.js';

/** A fixed seed, so that keys are equal in all processes; other traces have a seed per process. */
const SEED = 0x811c9dc5;

/** Entries hashed per slice, which takes a fraction of a millisecond. */
const SLICE = 64;

const KNOWN = new WeakMap<HistoryService, PresentEntries>();

/** Returns the present entries of a history as states describe them. */
export function presentEntriesOf(history: HistoryService): PresentEntries {
  let known = KNOWN.get(history);
  if (known === undefined) {
    known = new PresentEntries(history);
    KNOWN.set(history, known);
  }
  return known;
}

/** The present entries of one history, followed through its changes. */
export class PresentEntries {
  readonly #history: HistoryService;
  readonly #bytes = new ByteWriter();
  /** Length of the prefix that `#bytes` holds. All of its entries are counted. */
  #packed = 0;
  /** Prefix hashes: for each entry, the hash of all entries up to and including it. */
  readonly #hashes: number[] = [];

  constructor(history: HistoryService) {
    this.#history = history;
    history.watch((change) => {
      const unchanged = unchangedEntries(change);
      const kept = Math.min(this.#packed, unchanged);
      this.#bytes.dropNumbers(this.#packed - kept);
      this.#packed = kept;
      this.#hashes.length = Math.min(this.#hashes.length, unchanged);
    });
  }

  /** A packed number per entry: 0 if it is not counted, else its tokens plus 1. The bytes are valid until the next call. */
  get packedTokens(): Uint8Array {
    const entries = this.#history.getRawHistory();
    let tokens: number | undefined;
    const next = (at: number): number | undefined => {
      const entry = entries[at];
      return entry && this.#history.countedTokens(entry);
    };
    while ((tokens = next(this.#packed)) !== undefined) {
      this.#bytes.number(tokens + 1);
      this.#packed += 1;
    }
    if (this.#packed === entries.length) return this.#bytes.view();
    const all = new ByteWriter();
    all.bytes(this.#bytes.view());
    for (let at = this.#packed; at < entries.length; at += 1) all.number((next(at) ?? -1) + 1);
    return all.view();
  }

  /** The key; `undefined` if nothing was edited, so that these are the added entries. */
  get key(): number | undefined {
    if (this.#history.journal.count === 0) return undefined;
    runSlices(this.hashInSlices());
    return traceKey(this.#hashes.length, this.#hashes.at(-1) ?? SEED);
  }

  /** Hashes in slices what `key` would otherwise hash at once. */
  *hashInSlices(): Generator<void, void, undefined> {
    while (this.#history.journal.count > 0) {
      // Read the length and the history again in each slice: an edit may land between two slices.
      const from = this.#hashes.length;
      for (const entry of this.#history.getRawHistory().slice(from, from + SLICE)) {
        this.#hashes.push(traceOn(this.#hashes.at(-1) ?? SEED, entry));
      }
      if (this.#hashes.length < from + SLICE) return;
      yield;
    }
  }
}

/** Length of the prefix that a change leaves unchanged; `Infinity` if it only appends. */
function unchangedEntries(change: HistoryChange): number {
  if (change.kind === 'append') return Infinity;
  return change.kind === 'edit' ? firstEditedIndex(change) : 0;
}

/**
 * Unpacks the tokens of each entry.
 *
 * @throws RangeError if the bytes end within a number, or a number is too large.
 */
export function unpackTokens(bytes: Uint8Array): KnownTokens {
  const packed = new ByteReader(bytes);
  const tokens: (number | undefined)[] = [];
  while (!packed.isAtEnd) {
    const number = packed.number();
    tokens.push(number === 0 ? undefined : number - 1);
  }
  return tokens;
}

/** The length of a history with this key. */
export function lengthOfKey(key: number): number {
  return Math.floor(key / 2 ** 32);
}

/** Whether entries have this key. */
export function matchesKey(entries: readonly IContent[], key: number): boolean {
  return traceKey(entries.length, entries.reduce(traceOn, SEED)) === key;
}
