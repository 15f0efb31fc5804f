// The passes of preflights that are played once more: on an index that grows with the history and follows its edits, as a
// worker's does, so that none of them looks at the whole of it. Applies nothing.

import type { DensityConfig, DensityResult } from '../../shared/density.js';
import { stretchesOfEdit } from '../../shared/density/index/stretches.js';
import { HistoryIndex } from '../../shared/density/index/history-index.js';
import { scopeOfSession } from '../../shared/density/index/index-scope.js';
import type { IndexScope } from '../../shared/density/index/index-scope.js';
import { planIndexed, withTexts } from '../../shared/density/plan/optimize.js';
import type { PlanWithTexts } from '../../shared/density/plan/optimize.js';
import { WorkerPoolError } from '../../shared/errors.js';
import type { EditedCopy } from './edited-copy.js';
import { PlannedEdit } from './found-edit.js';
import type { FoundEdit } from './found-edit.js';

/** The documented passes over one history that is played once more. */
export class ReplayedPasses {
  readonly #copy: Pick<EditedCopy, 'getRawHistory'>;
  readonly #scope: IndexScope;
  #index: HistoryIndex;

  /** @param config of which nothing about the agent changes */
  constructor(config: DensityConfig, copy: Pick<EditedCopy, 'getRawHistory'>) {
    this.#copy = copy;
    this.#scope = scopeOfSession(config);
    this.#index = new HistoryIndex(this.#scope);
  }

  /** What a pass finds in the history as it stands. */
  find(config: DensityConfig): FoundEdit {
    const { plan, texts } = this.#planned(config);
    return new PlannedEdit(plan, this.#copy.getRawHistory(), config, texts, () => undefined);
  }

  #planned(config: DensityConfig): PlanWithTexts {
    const index = this.#caughtUp();
    try {
      return withTexts(planIndexed(index, config), index);
    } catch (error) {
      if (!(error instanceof WorkerPoolError) || error.code !== 'RESIDENT_OUT_OF_STEP') throw error;
      // So many results went away that this index does not know what stood before them: one that is made anew does.
      this.#index = new HistoryIndex(this.#scope);
      return withTexts(planIndexed(this.#caughtUp(), config), this.#index);
    }
  }

  /** The edit that makes results behind the last answer smaller; `undefined` when there is none. */
  findShrinks(config: DensityConfig): FoundEdit | undefined {
    if (this.#caughtUp().unsentResults().size === 0) return undefined;
    const { workingSet: _, ...rest } = config;
    const found = this.find({ ...rest, readWritePruning: false, fileDedupe: false });
    return found.firstEntry === Infinity ? undefined : found;
  }

  /**
   * Follows an edit that has landed in the history.
   *
   * @param isShrinking whether it makes unsent results smaller, and does nothing else to calls and results
   */
  noteLanding({ removals, replacements }: DensityResult, isShrinking: boolean): void {
    if (isShrinking && removals.length === 0) {
      for (const [entry, content] of replacements) this.#index.noteShrunk(entry, content);
      return;
    }
    const replaced = [...replacements].toSorted(([a], [b]) => a - b);
    const { length } = this.#index;
    const edited = replaced.map(([entry]) => entry);
    const placeOf = this.#index.placesOf(new Set([...removals, ...edited]));
    for (const [entry, content] of replaced) this.#index.append(content, placeOf(entry));
    const left = stretchesOfEdit(length, Int32Array.from(removals), Int32Array.from(edited));
    this.#index = this.#index.chosen(left).index;
  }

  #caughtUp(): HistoryIndex {
    const history = this.#copy.getRawHistory();
    const index = this.#index;
    for (let at = index.length; at < history.length; at += 1) {
      const entry = history[at];
      if (entry !== undefined) index.append(entry);
    }
    return index;
  }
}
