// Finds again which results were made smaller before they were sent, while the preflights of a history are played once
// more: in each of them it looks at what came in since the last one, and at nothing else. Applies nothing.

import type { DensityConfig } from '../../shared/density.js';
import { DEFAULT_DENSITY_CONFIG } from '../../shared/density.js';
import { HistoryIndex } from '../../shared/density/index/history-index.js';
import { planIndexed, scopeOfPass, withTexts } from '../../shared/density/plan/optimize.js';
import type { Admission } from './edit-policy.js';
import type { EditedCopy } from './edited-copy.js';
import { PlannedEdit } from './found-edit.js';
import type { FoundEdit } from './found-edit.js';

/** The shrinking of one history that is played once more. */
export class ReplayedShrinks {
  readonly #config: DensityConfig;
  readonly #copy: Pick<EditedCopy, 'getRawHistory'>;
  #index: HistoryIndex | undefined;

  /** @param config of a whole pass, of which the shrinking is played */
  constructor(
    { workspaceRoot, toolCatalog, shrink, placeholder }: DensityConfig,
    copy: Pick<EditedCopy, 'getRawHistory'>,
  ) {
    this.#config = {
      ...DEFAULT_DENSITY_CONFIG,
      ...{ readWritePruning: false, fileDedupe: false, workspaceRoot },
      ...(toolCatalog !== undefined && { toolCatalog }),
      ...(shrink !== undefined && { shrink }),
      ...(placeholder !== undefined && { placeholder }),
    };
    this.#copy = copy;
  }

  /** The edit that makes results behind the last answer smaller; `undefined` when there is none. */
  find(): FoundEdit | undefined {
    const history = this.#copy.getRawHistory();
    this.#index ??= new HistoryIndex(scopeOfPass(this.#config));
    const index = this.#index;
    for (let at = index.length; at < history.length; at += 1) {
      const entry = history[at];
      if (entry !== undefined) index.append(entry);
    }
    if (index.unsentResults().length === 0) return undefined;
    const { plan, texts } = withTexts(planIndexed(index, this.#config), index);
    return texts && new PlannedEdit(plan, history, this.#config, texts, () => undefined);
  }

  /** Notes an edit that has landed in the history: one that was found here, or another one. */
  noteLanding({ result: { removals, replacements } }: Admission, isOwn: boolean): void {
    if (!isOwn || removals.length > 0) this.#index = undefined;
    else for (const [entry, content] of replacements) this.#index?.noteShrunk(entry, content);
  }
}
