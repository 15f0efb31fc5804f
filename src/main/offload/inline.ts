// Runs the work on the calling thread: chosen for small histories, and the fallback if workers fail. Results equal those of a
// worker, since both run the same functions.

import { isDeepStrictEqual } from 'node:util';
import type { IContent } from '../../shared/content.js';
import type { DensityBase, DensityConfig } from '../../shared/density.js';
import type { IndexScope } from '../../shared/density/index/index-scope.js';
import { scopeOfPass } from '../../shared/density/plan/optimize.js';
import type { PlanWithTexts } from '../../shared/density/plan/optimize.js';
import { asError } from '../../shared/errors.js';
import type { BytePairCounter } from '../../shared/tokens/byte-pair-counter.js';
import { fixedEntryTokens } from '../../shared/tokens/content-text.js';
import { entryTexts } from '../../shared/tokens/count-tokens.js';
import { estimateEntryTokens } from '../../shared/tokens/estimate.js';
import { loadTextCounter } from '../../shared/tokens/o200k.js';
import type { HistoryChange, HistoryState, HistoryWatcher } from '../history-change.js';
import { inTurns, nextTurn, setImmediate } from '../waiting/event-loop-turn.js';
import { GrowingIndex } from './growing-index.js';
import { OffloadMeter } from './offload-meter.js';
import type { Offload } from './offload.js';

/** Maximum entries to index without yielding: indexing them takes a millisecond or two. */
const ENTRIES_AT_ONCE = 1_024;

/**
 * Runs all work of one session on the calling thread. A density pass is synchronous, except that the first one over a long history
 * yields to the event loop while indexing. Counting yields as well, as does loading the encoding on the first count. The encoding
 * occupies 6 MB; if it cannot be loaded, tokens are estimated.
 */
export class InlineOffload implements Offload {
  readonly #meter: OffloadMeter;
  readonly #index = new KeptIndex();

  /** @param meter records the work, and the fallback to estimates if the encoding cannot be loaded */
  constructor(meter: OffloadMeter = new OffloadMeter()) {
    this.#meter = meter;
  }

  readonly noteChange: HistoryWatcher = (change, state) => {
    this.#index.noteChange(change, state);
  };

  readonly optimize: Offload['optimize'] = async (history, base, config, signal) => {
    signal?.throwIfAborted();
    // A copy: the history may change while we yield.
    const entries = history.slice(0, base.length);
    if (base.length > ENTRIES_AT_ONCE && this.#index.isNew(base)) {
      await inTurns(this.#index.lookAhead(entries, base, config));
      signal?.throwIfAborted();
    }
    const startedAt = performance.now();
    const planned = this.#index.plan(entries, base, config);
    this.#addPass('optimize', base.length, performance.now() - startedAt);
    return planned;
  };

  readonly countTokens: Offload['countTokens'] = async (contents, signal) => {
    signal?.throwIfAborted();
    if (contents.length === 0) return [];
    // A copy: the caller may change the array while we yield.
    const entries = [...contents];
    const counter = await loadTextCounter(nextTurn).catch((thrown: unknown) => {
      this.#meter.addFallback({ task: 'count', error: asError(thrown), attempts: 0 });
      return undefined;
    });
    signal?.throwIfAborted();
    if (counter === undefined) return entries.map(estimateEntryTokens);
    const startedAt = performance.now();
    const tokens = await inTurns(countInSlices(entries, counter), entries.length, signal);
    this.#addPass('count', entries.length, performance.now() - startedAt);
    return tokens;
  };

  #addPass(task: 'optimize' | 'count', entries: number, runMs: number): void {
    const wait = { queueMs: 0, transferMs: 0, bytesSent: 0 };
    this.#meter.addPass({ task, ranOn: 'inline', entries, runMs, mainThreadMs: runMs, ...wait });
  }
}

/** `countEntryTokens` of each entry, in slices, even within one huge entry. */
function* countInSlices(
  entries: readonly IContent[],
  counter: BytePairCounter,
): Generator<void, readonly number[], undefined> {
  const counts: number[] = [];
  for (const entry of entries) {
    let tokens = fixedEntryTokens(entry);
    for (const text of entryTexts(entry)) {
      tokens += yield* counter.countInSlices(text);
      yield;
    }
    counts.push(tokens);
  }
  return counts;
}

/** Entries indexed between yields. */
const ENTRIES_PER_SLICE = 64;

/** An index, and the state of the history that it covers. */
interface Kept {
  readonly index: GrowingIndex;
  readonly scope: IndexScope;
  readonly revision: number;
  readonly lastEntry: IContent | undefined;
}

/** The index of one session's history between density passes. Starts over if a pass has another scope, or after a rewrite. */
class KeptIndex {
  #kept: Kept | undefined;
  /** Applies the last edit to the index, if that is still to be done. */
  #followEdit: (() => void) | undefined;

  /**
   * Plans a density pass.
   *
   * @param history the entries of the base
   * @throws what `planWithTexts` throws
   */
  plan(
    history: readonly IContent[],
    { revision }: DensityBase,
    config: DensityConfig,
  ): PlanWithTexts {
    const scope = scopeOfPass(config);
    const index = this.#take(history, revision, scope);
    const planned = index.plan(history, config);
    this.#kept = { index, scope, revision, lastEntry: history.at(-1) };
    return planned;
  }

  /** Whether there is no index of this revision. */
  isNew({ revision }: DensityBase): boolean {
    return this.#kept?.revision !== revision;
  }

  /**
   * Indexes most of the new entries ahead of a plan, yielding in between.
   *
   * @param history the entries of the base, which must not change meanwhile
   */
  *lookAhead(
    history: readonly IContent[],
    { revision }: DensityBase,
    config: DensityConfig,
  ): Generator<void, void, undefined> {
    const scope = scopeOfPass(config);
    const index = this.#take(history, revision, scope);
    while (index.length + ENTRIES_PER_SLICE < history.length) {
      index.extend(history, index.length + ENTRIES_PER_SLICE);
      yield;
    }
    this.#kept = { index, scope, revision, lastEntry: history[index.length - 1] };
  }

  /**
   * Notes a change of the history. Appended entries are indexed by the next plan. An edit is applied to the index in the next turn of
   * the event loop, so that the request with that edit does not wait: in a long history this takes a good part of a turn.
   */
  noteChange(change: HistoryChange, { base: { revision }, entries }: HistoryState): void {
    if (change.kind === 'append') return;
    this.#follow();
    const kept = this.#kept;
    this.#kept = undefined;
    // Every change except an append increments the revision, so an index of an older revision has missed a change.
    if (kept === undefined || change.kind !== 'edit' || kept.revision !== revision - 1) return;
    const { index } = kept;
    const isIndexed = (entry: number): boolean => entry < index.length;
    const { removals, replacements } = change;
    if (!removals.every(isIndexed) || ![...replacements.keys()].every(isIndexed)) return;
    this.#kept = { ...kept, revision };
    this.#followEdit = () => {
      index.noteEdit(change);
      this.#kept = { ...kept, revision, lastEntry: entries[index.length - 1] };
    };
    setImmediate(() => {
      this.#follow();
    });
  }

  #follow(): void {
    const followEdit = this.#followEdit;
    this.#followEdit = undefined;
    try {
      followEdit?.();
    } catch {
      // The next pass builds a new index, and throws if that fails too.
      this.#kept = undefined;
    }
  }

  /** Takes the kept index if it fits the history, else a new one. `#kept` stays empty, so that no error leaves a partial index in it. */
  #take(history: readonly IContent[], revision: number, scope: IndexScope): GrowingIndex {
    this.#follow();
    const kept = this.#kept;
    this.#kept = undefined;
    const isUsable =
      kept !== undefined &&
      kept.revision === revision &&
      kept.index.length <= history.length &&
      kept.lastEntry === history[kept.index.length - 1] &&
      isDeepStrictEqual(kept.scope, scope);
    return isUsable ? kept.index : new GrowingIndex(scope);
  }
}
