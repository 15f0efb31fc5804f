// The trace of a history as it stands after its edits: a host that stores what it was returned comes back with that. Read with each
// save, so only what changed since the last one is hashed; in slices, for a process that has just taken a history up hashes all of it.

import type { IContent } from '../../shared/content.js';
import { runSlices } from '../../shared/slices.js';
import type { HistoryService } from '../history-service.js';
import { unchangedEntries } from '../tokens/packed-tokens.js';
import { traceKey, traceOn } from './journal.js';

/** The same in every process, unlike that of other traces. */
const SEED = 0x811c9dc5;

const KEYS = new WeakMap<HistoryService, StandingKey>();

/** Returns the key of the entries that are left, `undefined` if they are those that were added. */
export function standingKeyOf(history: HistoryService): number | undefined {
  return keyOf(history)?.now;
}

/** Hashes ahead what the key would hash when it is read. */
export function* standInSlices(history: HistoryService): Generator<void, void, undefined> {
  yield* keyOf(history)?.settleInSlices() ?? [];
}

function keyOf(history: HistoryService): StandingKey | undefined {
  if (history.journal.count === 0) return undefined;
  let key = KEYS.get(history);
  if (key === undefined) {
    key = new StandingKey(history);
    KEYS.set(history, key);
  }
  return key;
}

/** Entries that are hashed at a time: a fraction of a millisecond. */
const SLICE = 64;

class StandingKey {
  readonly #history: HistoryService;
  /** By entry, the hash of all up to it. */
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
      // Read anew in each slice: the history may be edited between two.
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
export function haveKey(entries: readonly IContent[], key: number): boolean {
  return traceKey(entries.length, entries.reduce(traceOn, SEED)) === key;
}
