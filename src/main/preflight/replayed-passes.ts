// The passes of replayed preflights. They share one index that grows with the history and follows its edits, like a worker's,
// so that no pass scans the whole history. Applies nothing.

import type { DensityConfig, DensityResult } from '../../shared/density.js';
import { stretchesOfEdit } from '../../shared/density/index/edit-stretches.js';
import { HistoryIndex } from '../../shared/density/index/history-index.js';
import { scopeOfSession } from '../../shared/density/index/index-scope.js';
import type { IndexScope } from '../../shared/density/index/index-scope.js';
import { planIndexed, withTexts } from '../../shared/density/plan/optimize.js';
import type { PlanWithTexts } from '../../shared/density/plan/optimize.js';
import { WorkerPoolError } from '../../shared/errors.js';
import type { EditedCopy } from './edited-copy.js';
import { PlannedEdit } from './found-edit.js';
import type { FoundEdit } from './found-edit.js';

/** This library's passes over one replayed history. */
export class ReplayedPasses {
  readonly #copy: Pick<EditedCopy, 'getRawHistory'>;
  readonly #scope: IndexScope;
  #index: HistoryIndex;

  /** @param config its agent-related part must not change later */
  constructor(config: DensityConfig, copy: Pick<EditedCopy, 'getRawHistory'>) {
    this.#copy = copy;
    this.#scope = scopeOfSession(config);
    this.#index = new HistoryIndex(this.#scope);
  }

  /** Returns what a pass finds in the present copy. */
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
      // So many results were removed that this index lacks what preceded them; a new one has it.
      this.#index = new HistoryIndex(this.#scope);
      return withTexts(planIndexed(this.#caughtUp(), config), this.#index);
    }
  }

  /** Returns the edit that shrinks results behind the last answer; `undefined` if there is none. */
  findShrinks(config: DensityConfig): FoundEdit | undefined {
    if (this.#caughtUp().unsentResults().size === 0) return undefined;
    const { workingSet: _, ...rest } = config;
    const found = this.find({ ...rest, readWritePruning: false, fileDedupe: false });
    return found.firstEntry === Infinity ? undefined : found;
  }

  /**
   * Follows an edit that landed in the copy.
   *
   * @param isShrinking whether it only shrinks unsent results, and changes no other calls or results
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
