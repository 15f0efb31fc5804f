// Keeps the density index of one history on the calling thread while the history grows and is edited, so that no entry is indexed
// twice.

import type { IContent } from '../../shared/content.js';
import { inOrder } from '../../shared/density.js';
import type { DensityConfig, DensityResult } from '../../shared/density.js';
import { HistoryIndex } from '../../shared/density/index/history-index.js';
import type { IndexScope } from '../../shared/density/index/index-scope.js';
import { stretchesOfEdit } from '../../shared/density/index/stretches.js';
import { planWithTexts } from '../../shared/density/plan/optimize.js';
import type { PlanWithTexts } from '../../shared/density/plan/optimize.js';
import { WorkerPoolError } from '../../shared/errors.js';

/** An index that follows one history. Its plans equal those of an index made from scratch. */
export class GrowingIndex {
  readonly #scope: IndexScope;
  #index: HistoryIndex;

  /** @param scope must cover all passes to be planned */
  constructor(scope: IndexScope) {
    // `isRewritable`, because edits change which calls and results are paired.
    this.#scope = { ...scope, isRewritable: true };
    this.#index = new HistoryIndex(this.#scope);
  }

  /** The number of indexed entries. */
  get length(): number {
    return this.#index.length;
  }

  /** Indexes the entries that follow the indexed ones, up to `end`, exclusive. */
  extend(history: readonly IContent[], end?: number): void {
    this.#index.extend(history, end);
  }

  /**
   * Plans a density pass over a history, after indexing what is new in it.
   *
   * @throws what `planWithTexts` throws
   */
  plan(history: readonly IContent[], config: DensityConfig): PlanWithTexts {
    try {
      return planWithTexts(history, config, this.#index);
    } catch (error) {
      if (!(error instanceof WorkerPoolError) || error.code !== 'RESIDENT_OUT_OF_STEP') throw error;
      // So many results were removed that the plan needs earlier data, which this index no longer has. A new index has it.
      this.#index = new HistoryIndex(this.#scope);
      return planWithTexts(history, config, this.#index);
    } finally {
      // Called for its side effect: it releases the texts of results that were sent.
      this.#index.unsentResults();
    }
  }

  /** Whether there are results after the last model answer, which may be shrunk. Releases the texts of older results. */
  get hasUnsentResults(): boolean {
    return this.#index.unsentResults().size > 0;
  }

  /** Applies an edit of indexed entries to the index. */
  noteEdit(edit: Pick<DensityResult, 'removals' | 'replacements'>): void {
    const { removals, replaced, contents } = inOrder(edit);
    const { length } = this.#index;
    const placeOf = this.#index.placesOf(new Set([...removals, ...replaced]));
    contents.forEach((content, at) => {
      this.#index.append(content, placeOf(replaced[at] ?? Infinity));
    });
    this.#index = this.#index.chosen(stretchesOfEdit(length, removals, replaced)).index;
  }

  /** Applies an edit that shrinks results after the last model answer and changes no other calls or results. */
  noteShrinks(replacements: DensityResult['replacements']): void {
    for (const [entry, content] of replacements) this.#index.noteShrunk(entry, content);
  }
}
