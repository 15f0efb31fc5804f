// A key (a weak hash) of a history after its edits. A host that stores the entries as sent passes these to the next session, which
// recognizes them by the key. The key is read with each save, so only entries that changed since the last save are hashed. Hashing
// runs in slices, because a process that has just loaded a history hashes all of it.

import type { IContent } from '../../shared/content.js';
import { runSlices } from '../../shared/slices.js';
import type { HistoryService } from '../history-service.js';
import { unchangedEntries } from '../tokens/packed-tokens.js';
import { traceKey, traceOn } from './journal.js';

/** A fixed seed, so that keys are equal in all processes; other traces have a seed per process. */
const SEED = 0x811c9dc5;

const KEYS = new WeakMap<HistoryService, HistoryKey>();

/** Returns the key of the present entries; `undefined` if nothing was edited, so that these are the added entries. */
export function historyKeyOf(history: HistoryService): number | undefined {
  return keyOf(history)?.now;
}

/** Hashes in slices what `historyKeyOf` would otherwise hash at once. */
export function* hashInSlices(history: HistoryService): Generator<void, void, undefined> {
  yield* keyOf(history)?.settleInSlices() ?? [];
}

function keyOf(history: HistoryService): HistoryKey | undefined {
  if (history.journal.count === 0) return undefined;
  let key = KEYS.get(history);
  if (key === undefined) {
    key = new HistoryKey(history);
    KEYS.set(history, key);
  }
  return key;
}

/** Entries hashed per slice, which takes a fraction of a millisecond. */
const SLICE = 64;

class HistoryKey {
  readonly #history: HistoryService;
  /** Prefix hashes: for each entry, the hash of all entries up to and including it. */
  readonly #hashes: number[] = [];

  constructor(history: HistoryService) {
    this.#history = history;
    history.watch((change) => {
      this.#hashes.length = Math.min(this.#hashes.length, unchangedEntries(change));
    });
  }

  get now(): number {
    runSlices(this.settleInSlices());
    return traceKey(this.#hashes.length, this.#hashes.at(-1) ?? SEED);
  }

  *settleInSlices(): Generator<void, void, undefined> {
    for (;;) {
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

/** The length of a history with this key. */
export function lengthOfKey(key: number): number {
  return Math.floor(key / 2 ** 32);
}

/** Whether entries have this key. */
export function matchesKey(entries: readonly IContent[], key: number): boolean {
  return traceKey(entries.length, entries.reduce(traceOn, SEED)) === key;
}
