// Runs the work on the calling thread: what is chosen for small histories and left when workers fail.
// Results are those of the worker, because both run the same functions.

import { readFile } from 'node:fs/promises';
import type { IContent } from '../../shared/content.js';
import type { DensityBase, DensityConfig } from '../../shared/density.js';
import { planDensity } from '../../shared/density/plan/optimize.js';
import { fixedEntryTokens } from '../../shared/tokens/content-text.js';
import { entryPieces } from '../../shared/tokens/count-tokens.js';
import type { CountPiece } from '../../shared/tokens/count-tokens.js';
import { pieceCounterLoader } from '../../shared/tokens/piece-counter-loader.js';
import { nextTurn } from '../waiting/event-loop-turn.js';
import { viewOfBase } from './history-base.js';
import { OffloadMeter } from './offload-meter.js';
import type { BasedPlan, Offload, OffloadStats } from './offload.js';

/**
 * UTF-16 units counted before the event loop gets a turn: 2 ms of ordinary text, 25 ms of the worst.
 */
const SLICE_LENGTH = 65_536;

/**
 * An offload that offloads nothing. A density pass runs before `optimize` returns its promise and
 * blocks for less than 1 ms per 1,000 entries. Counting takes turns with the event loop; the first count
 * loads the encoding, which blocks for about 6 ms once and stays at 4 MB.
 */
export class InlineOffload implements Offload {
  readonly #meter: OffloadMeter;

  constructor(meter: OffloadMeter = new OffloadMeter()) {
    this.#meter = meter;
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
    const startedAt = performance.now();
    const plan = planDensity(viewOfBase(history, base), config);
    this.#addPass('optimize', base.length, performance.now() - startedAt);
    return { base, plan };
  }

  async countTokens(
    contents: readonly IContent[],
    signal?: AbortSignal,
  ): Promise<readonly number[]> {
    signal?.throwIfAborted();
    if (contents.length === 0) return [];
    // A copy, for the caller may go on with the array while we take turns.
    const entries = [...contents];
    const countPiece = await loadPieceCounter();
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const tokens = await countInSlices(entries, countPiece, signal);
    this.#addPass('count', entries.length, performance.now() - startedAt);
    return tokens;
  }

  #addPass(task: 'optimize' | 'count', entries: number, runMs: number): void {
    const wait = { queueMs: 0, transferMs: 0, bytesSent: 0 };
    this.#meter.addPass({ task, ranOn: 'inline', entries, runMs, mainThreadMs: runMs, ...wait });
  }
}

/** As `countEachEntry`, with a turn of the event loop after each slice, also within one huge entry. */
async function countInSlices(
  entries: readonly IContent[],
  countPiece: CountPiece,
  signal: AbortSignal | undefined,
): Promise<readonly number[]> {
  const counts: number[] = [];
  let unitsLeft = SLICE_LENGTH;
  for (const entry of entries) {
    let tokens = fixedEntryTokens(entry);
    for (const piece of entryPieces(entry)) {
      tokens += countPiece(piece);
      unitsLeft -= piece.length;
      if (unitsLeft > 0) continue;
      unitsLeft = SLICE_LENGTH;
      await nextTurn(signal);
    }
    counts.push(tokens);
  }
  return counts;
}

const loadPieceCounter = pieceCounterLoader(() =>
  readFile(new URL(import.meta.resolve('#o200k-tokens'))),
);
