// An edit that a preflight has found and that may land in part: the plan of a pass, of which entries are made only when
// somebody asks for them, or what a strategy of the user's own has returned. Decides nothing.

import type { IContent } from '../../shared/content.js';
import { isEmptyDensityResult, NO_EDITS } from '../../shared/density.js';
import type { DensityConfig, DensityResult, PassSettings } from '../../shared/density.js';
import { materializeDensityPlan } from '../../shared/density/plan/materialize.js';
import { PlanCursor } from '../../shared/density/plan/plan.js';
import type { DensityPlan } from '../../shared/density/plan/plan.js';
import type { CompressionStrategy } from '../strategies/strategy.js';
import { limitPlan, limitResult, shrinkingPart, shrinkingPartOfResult } from './limit-edits.js';
import type { Place } from './limit-edits.js';
import { firstEditedIndex } from './reasoning-policy.js';

/** An edit of the history as it stands. Void once that is rewritten. */
export interface FoundEdit {
  /** The first entry that it edits; `Infinity` when it edits none. */
  readonly firstEntry: number;
  /** How many entries it edits. */
  readonly size: number;
  /** What it does. */
  readonly result: DensityResult;
  /** The part of it that changes nothing before a place; the same object when that is all of it. */
  limitedTo(place: Place): FoundEdit;
  /** The part of it that makes results smaller, in entries from this one on; the same object when that is all of it. */
  shrinkingFrom(entry: number): FoundEdit;
}

/** Has a strategy look for edits on the calling thread. */
export function findHere(
  strategy: CompressionStrategy,
  history: readonly IContent[],
  config: DensityConfig,
): FoundEdit {
  const result = strategy.optimize?.(history, config) ?? NO_EDITS;
  return new ReturnedEdit(result, history, config);
}

/** The edit that a pass has planned. */
export class PlannedEdit implements FoundEdit {
  readonly #plan: DensityPlan;
  readonly #history: readonly IContent[];
  readonly #settings: PassSettings;
  readonly #texts: readonly string[];
  readonly #onMade: (result: DensityResult) => void;
  #result: DensityResult | undefined;

  /**
   * @param texts those that the plan comes with
   * @param onMade told of the result when it is made
   */
  constructor(
    plan: DensityPlan,
    history: readonly IContent[],
    settings: PassSettings,
    texts: readonly string[] | undefined,
    onMade: (result: DensityResult) => void,
  ) {
    this.#plan = plan;
    this.#history = history;
    this.#settings = settings;
    this.#texts = texts ?? [];
    this.#onMade = onMade;
  }

  get firstEntry(): number {
    return this.#plan[0] ?? Infinity;
  }

  get size(): number {
    const entries = new Set<number>();
    for (const row = new PlanCursor(this.#plan); !row.isAtEnd; row.next()) entries.add(row.entry);
    return entries.size;
  }

  get result(): DensityResult {
    if (this.#result === undefined) {
      this.#result = materializeDensityPlan(this.#plan, this.#history, this.#settings, this.#texts);
      this.#onMade(this.#result);
    }
    return this.#result;
  }

  limitedTo(place: Place): FoundEdit {
    return this.#part(limitPlan(this.#plan, this.#history, place, this.#settings, this.#texts));
  }

  shrinkingFrom(entry: number): FoundEdit {
    return this.#part(shrinkingPart(this.#plan, entry));
  }

  #part(plan: DensityPlan): FoundEdit {
    if (plan.length === this.#plan.length) return this;
    return new PlannedEdit(plan, this.#history, this.#settings, this.#texts, this.#onMade);
  }
}

/** The edit that a strategy has returned. */
export class ReturnedEdit implements FoundEdit {
  readonly result: DensityResult;
  readonly #history: readonly IContent[];
  readonly #settings: PassSettings;

  constructor(result: DensityResult, history: readonly IContent[], settings: PassSettings) {
    this.result = result;
    this.#history = history;
    this.#settings = settings;
  }

  get firstEntry(): number {
    return isEmptyDensityResult(this.result) ? Infinity : firstEditedIndex(this.result);
  }

  get size(): number {
    return this.result.removals.length + this.result.replacements.size;
  }

  limitedTo(place: Place): FoundEdit {
    const result = limitResult(this.result, this.#history, place, this.#settings);
    if (result === this.result) return this;
    return new ReturnedEdit(result, this.#history, this.#settings);
  }

  shrinkingFrom(entry: number): FoundEdit {
    const result = shrinkingPartOfResult(this.result, entry, this.#settings);
    const part = new ReturnedEdit(result, this.#history, this.#settings);
    return part.size === this.size ? this : part;
  }
}
