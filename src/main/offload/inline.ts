// Runs the work on the calling thread: what is chosen for small histories and left when workers fail.
// Results are those of the worker, because both run the same functions.

import type { IContent } from '../../shared/content.js';
import type { DensityBase, DensityConfig } from '../../shared/density.js';
import { fixedEntryTokens } from '../../shared/tokens/content-text.js';
import type { BytePairCounter } from '../../shared/tokens/byte-pair-counter.js';
import { entryTexts } from '../../shared/tokens/count-tokens.js';
import { nextTurn, inTurns } from '../waiting/event-loop-turn.js';
import { OffloadMeter } from './offload-meter.js';
import type { BasedPlan, Offload, OffloadStats, FallbackEvent } from './offload.js';
import { asError } from '../../shared/errors.js';
import { runSlicesInTurns } from '../../shared/slices.js';
import { estimateEntryTokens } from '../../shared/tokens/estimate.js';
import { loadTextCounter } from '../../shared/tokens/o200k.js';
import { HistoryIndex } from '../../shared/density/index/history-index.js';
import type { IndexScope } from '../../shared/density/index/index-scope.js';
import { planWithTexts, scopeOfPass } from '../../shared/density/plan/optimize.js';
import type { PlanWithTexts } from '../../shared/density/plan/optimize.js';

/**
 * UTF-16 units counted before the event loop gets a turn: 2 ms of ordinary text, 25 ms of the worst.
 */
const SLICE_LENGTH = 65_536;

/** As many entries are looked at in less than a millisecond or two. */
const ENTRIES_AT_ONCE = 1_024;

/**
 * An offload that offloads nothing, of one session. A density pass runs before `optimize` returns its promise, and the first one
 * over a long history takes turns with the event loop as it looks at that. Counting takes turns with the event loop, and so does loading
 * the encoding, which the first count does; it stays at 6 MB. Where it cannot be loaded, tokens are estimated.
 */
export class InlineOffload implements Offload {
  readonly #meter: OffloadMeter;
  readonly #onFallback: (event: FallbackEvent) => void;
  readonly #index = new GrowingIndex();

  /** @param onFallback told whenever tokens are estimated, because the encoding cannot be loaded. What it throws is not caught. */
  constructor(
    meter: OffloadMeter = new OffloadMeter(),
    onFallback: (event: FallbackEvent) => void = () => undefined,
  ) {
    this.#meter = meter;
    this.#onFallback = onFallback;
  }

  get stats(): OffloadStats {
    return this.#meter.stats;
  }

  async optimize(
    history: readonly IContent[],
    base: DensityBase,
    config: DensityConfig,
    signal?: AbortSignal,
  ): Promise<BasedPlan> {
    signal?.throwIfAborted();
    let entries = viewOfBase(history, base);
    if (base.length > ENTRIES_AT_ONCE && this.#index.isNew(base)) {
      entries = entriesOfBase(history, base);
      await inTurns(this.#index.lookAhead(entries, base, config));
      signal?.throwIfAborted();
    }
    const startedAt = performance.now();
    const planned = this.#index.plan(entries, base, config);
    this.#addPass('optimize', base.length, performance.now() - startedAt);
    return { base, ...planned };
  }

  async countTokens(
    contents: readonly IContent[],
    signal?: AbortSignal,
  ): Promise<readonly number[]> {
    signal?.throwIfAborted();
    if (contents.length === 0) return [];
    // A copy, for the caller may go on with the array while we take turns.
    const entries = [...contents];
    const counter = await this.#loadTextCounter();
    signal?.throwIfAborted();
    if (counter === undefined) return entries.map(estimateEntryTokens);
    const startedAt = performance.now();
    const tokens = await countInSlices(entries, counter, signal);
    this.#addPass('count', entries.length, performance.now() - startedAt);
    return tokens;
  }

  async #loadTextCounter(): Promise<BytePairCounter | undefined> {
    try {
      return await loadTextCounter(nextTurn);
    } catch (thrown) {
      const fallback = { task: 'count', error: asError(thrown), attempts: 0 } as const;
      this.#meter.addFallback(fallback);
      this.#onFallback(fallback);
      return undefined;
    }
  }

  #addPass(task: 'optimize' | 'count', entries: number, runMs: number): void {
    const wait = { queueMs: 0, transferMs: 0, bytesSent: 0 };
    this.#meter.addPass({ task, ranOn: 'inline', entries, runMs, mainThreadMs: runMs, ...wait });
  }
}

/** As `countEachEntry`, with a turn of the event loop after each slice, also within one huge entry. */
async function countInSlices(
  entries: readonly IContent[],
  counter: BytePairCounter,
  signal: AbortSignal | undefined,
): Promise<readonly number[]> {
  const counts: number[] = [];
  let unitsLeft = SLICE_LENGTH;
  for (const entry of entries) {
    let tokens = fixedEntryTokens(entry);
    for (const text of entryTexts(entry)) {
      tokens += await runSlicesInTurns(counter.countInSlices(text), () => nextTurn(signal));
      unitsLeft -= text.length;
      if (unitsLeft > 0) continue;
      unitsLeft = SLICE_LENGTH;
      await nextTurn(signal);
    }
    counts.push(tokens);
  }
  return counts;
}

/** Entries that are looked at before others may have a turn. */
const ENTRIES_PER_SLICE = 64;

/** What was indexed, and of which state of the history. */
interface Kept {
  readonly index: HistoryIndex;
  readonly scope: IndexScope;
  readonly revision: number;
  readonly lastEntry: IContent | undefined;
}

/** The index of one session's history. */
export class GrowingIndex {
  #kept: Kept | undefined;

  /**
   * Plans a density pass.
   *
   * @param history the entries of the base @throws what `planWithTexts` throws
   */
  plan(
    history: readonly IContent[],
    { revision }: DensityBase,
    config: DensityConfig,
  ): PlanWithTexts {
    const scope = scopeOfPass(config);
    const index = this.#take(history, revision, scope);
    const planned = planWithTexts(history, config, index);
    // Texts that were sent are not kept.
    index.unsentResults();
    this.#kept = { index, scope, revision, lastEntry: history.at(-1) };
    return planned;
  }

  /** Whether nothing is kept of the history as it was at a base. */
  isNew({ revision }: DensityBase): boolean {
    return this.#kept?.revision !== revision;
  }

  /**
   * Looks at most of what is new to it ahead of a plan, yielding where others may have a turn.
   *
   * @param history the entries of the base, which nobody changes meanwhile
   */
  *lookAhead(
    history: readonly IContent[],
    { revision }: DensityBase,
    config: DensityConfig,
  ): Generator<void, void, undefined> {
    const scope = scopeOfPass(config);
    const index = this.#take(history, revision, scope);
    while (index.length + ENTRIES_PER_SLICE < history.length) {
      const end = index.length + ENTRIES_PER_SLICE;
      for (const entry of history.slice(index.length, end)) index.append(entry);
      yield;
    }
    this.#kept = { index, scope, revision, lastEntry: history[index.length - 1] };
  }

  /** What is kept of a history where it is of that, or nothing. One that an error has left half made is of no use. */
  #take(history: readonly IContent[], revision: number, scope: IndexScope): HistoryIndex {
    const kept = this.#kept;
    this.#kept = undefined;
    const goesOn =
      kept !== undefined &&
      kept.revision === revision &&
      kept.index.length <= history.length &&
      kept.lastEntry === history[kept.index.length - 1] &&
      isSameScope(kept.scope, scope);
    return goesOn ? kept.index : new HistoryIndex(scope);
  }
}

/** Lists in a scope are compared by what is in them: they are made anew for each pass. */
function isSameScope(a: IndexScope, b: IndexScope): boolean {
  const { inclusionSyntaxes, ...rest } = a;
  return (
    Object.entries(rest).every(([name, value]) => b[name as keyof IndexScope] === value) &&
    inclusionSyntaxes.length === b.inclusionSyntaxes.length &&
    inclusionSyntaxes.every((syntax, at) => syntax === b.inclusionSyntaxes[at])
  );
}

/**
 * Returns the first `base.length` entries as an array of its own, which no later edit of the history
 * reaches; entries themselves never change.
 *
 * @throws RangeError when the history is shorter than its base.
 */
export function entriesOfBase(
  history: readonly IContent[],
  base: DensityBase,
): readonly IContent[] {
  assertCovers(history, base);
  return history.slice(0, base.length);
}

/**
 * Returns the first `base.length` entries for use before anything else can run: the history itself
 * when it has no more, so that a pass in every turn does not copy a long list in every turn.
 *
 * @throws RangeError when the history is shorter than its base.
 */
export function viewOfBase(history: readonly IContent[], base: DensityBase): readonly IContent[] {
  assertCovers(history, base);
  return base.length === history.length ? history : history.slice(0, base.length);
}

function assertCovers(history: readonly IContent[], { length }: DensityBase): void {
  if (Number.isInteger(length) && length >= 0 && length <= history.length) return;
  throw new RangeError(
    `Expected a base of 0 to ${history.length} entries, which the history has, got ${String(length)}.`,
  );
}
