// Runs the work on the calling thread: what is chosen for small histories and left when workers fail.
// Results are those of the worker, because both run the same functions.

import type { IContent } from '../../shared/content.js';
import type { DensityBase, DensityConfig } from '../../shared/density.js';
import { fixedEntryTokens } from '../../shared/tokens/content-text.js';
import type { BytePairCounter } from '../../shared/tokens/byte-pair-counter.js';
import { entryTexts } from '../../shared/tokens/count-tokens.js';
import { nextTurn } from '../waiting/event-loop-turn.js';
import { inTurns } from '../waiting/in-turns.js';
import { GrowingIndex } from './growing-index.js';
import { entriesOfBase, viewOfBase } from './history-base.js';
import { OffloadMeter } from './offload-meter.js';
import type { BasedPlan, Offload, OffloadStats, FallbackEvent } from './offload.js';
import { asError } from '../../shared/errors.js';
import { runSlicesInTurns } from '../../shared/slices.js';
import { estimateEntryTokens } from '../../shared/tokens/estimate.js';
import { loadTextCounter } from '../../shared/tokens/o200k.js';

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
