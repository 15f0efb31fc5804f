// Runs the rules of a density pass in their order over what an index holds. Rows get marks; what becomes of what is
// marked is done elsewhere.

import type { DensityConfig, PassSettings } from '../../density.js';
import type { HistoryIndex } from '../index/history-index.js';
import { syntaxesOf } from '../index/index-scope.js';
import type { IndexPart, IndexScope } from '../index/index-scope.js';
import type { Judgement } from './density-rule.js';
import { DENSITY_RULES } from './density-rules.js';
import type { RuleFinding } from './density-rules.js';
import { markOf, noMarks } from './marks.js';
import type { Marks } from './marks.js';

/** What the rules have marked. */
export interface MarkedHistory {
  readonly marks: Marks;
  /** What each rule has to say, in their order; `undefined` for those that are off. */
  readonly judgements: readonly (Judgement<RuleFinding> | undefined)[];
}

/**
 * Marks what the rules take that are on. The index notes what they look at.
 *
 * @param isExplained whether the rules will be asked what they went by
 */
export function markHistory(
  index: HistoryIndex,
  settings: PassSettings,
  isExplained: boolean = false,
): MarkedHistory {
  const marks = noMarks(index);
  const judgements = DENSITY_RULES.map((rule, place) => {
    if (!rule.isOn(settings)) return undefined;
    const mark = (action: number): number => markOf(action, place);
    return rule.mark({ index, settings, marks, mark, isExplained });
  });
  return { marks, judgements };
}

/** What an index has to note for one pass that no other follows. */
export function scopeOfPass(config: DensityConfig): IndexScope {
  const parts = new Set<IndexPart>(
    DENSITY_RULES.flatMap((rule) => (rule.isOn(config) ? rule.reads : [])),
  );
  return {
    workspaceRoot: config.workspaceRoot,
    toolCatalog: config.toolCatalog,
    inclusionSyntaxes: parts.has('inclusions') ? syntaxesOf(config) : [],
    calls: parts.has('calls'),
    recency: parts.has('recency'),
    workingSet: parts.has('workingSet'),
    isRewritable: false,
  };
}
