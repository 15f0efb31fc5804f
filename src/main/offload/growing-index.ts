// The index of a history that grows, kept from one density pass to the next, so that no entry is looked at twice. A rewrite of the
// history, or a pass that looks at other things, has it begin anew. Plans what a pass from scratch plans.

import type { IContent } from '../../shared/content.js';
import type { DensityBase, DensityConfig } from '../../shared/density.js';
import { HistoryIndex } from '../../shared/density/index/history-index.js';
import type { IndexScope } from '../../shared/density/index/index-scope.js';
import { planWithTexts, scopeOfPass } from '../../shared/density/plan/optimize.js';
import type { PlanWithTexts } from '../../shared/density/plan/optimize.js';

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
