// The rule `recency`: only the newest results of each tool keep their payload.

import { placeholderOf } from '../../density.js';
import { shownToolName } from '../../placeholder.js';
import { RESPONSE_FLAG } from '../index/history-columns.js';
import type { DensityRule, RulePass } from './density-rule.js';
import { ACTION, isRemoved } from './marks.js';

/** Finding on a result, by its rank among those of its tool. */
export interface RecencyFinding {
  readonly rule: 'recency';
  readonly reason: 'old' | 'recent';
  /** 1 for the newest result of the tool. */
  readonly rank: number;
  /** How many results of a tool stay. */
  readonly retained: number;
}

/** Replaces the payload of old results. */
export const RECENCY: DensityRule<RecencyFinding> = {
  name: 'recency',
  item: 'old result',
  counter: 'recencyPruned',
  settings: [
    {
      field: 'recencyPruning',
      description: 'Enable tool result recency pruning (keep last N per tool type)',
      type: 'boolean',
    },
    {
      field: 'recencyRetention',
      description: 'Number of recent results to keep per tool type',
      type: 'number',
    },
  ],
  reads: ['recency'],
  mark: (pass) => {
    const retained = resultsKept(pass.settings.recencyRetention);
    const ranks = markOldResults(pass, retained);
    return {
      ofResponse: (row) => {
        const rank = ranks[row] ?? 0;
        return { rule: 'recency', reason: rank > retained ? 'old' : 'recent', rank, retained };
      },
    };
  },
  say: ({ rank, retained }, { toolName }) =>
    `The newest ${retained} results of ${shownToolName(toolName ?? '')} are kept, ` +
    `and this is number ${rank} from the newest.`,
};

/**
 * Marks the responses whose payload becomes a placeholder. Removed responses do not count; those
 * that already hold a pointer, or a line naming their call, count towards the retention but are not
 * marked again. A bare summary line becomes the pointer, unless placeholders are summary lines too.
 * Returns each response's rank among those of its tool.
 */
function markOldResults({ index, settings, marks, mark }: RulePass, retained: number): Int32Array {
  const { responses, toolCount } = index;
  const { pruned, summary } = RESPONSE_FLAG;
  const settled = placeholderOf(settings) === 'pointer' ? pruned : pruned | summary;
  const pointer = mark(ACTION.pointer);
  const ranks = new Int32Array(responses.length);
  const seen = new Int32Array(toolCount);
  for (let row = responses.length - 1; row >= 0; row -= 1) {
    if (isRemoved(marks.responses[row])) continue;
    const tool = responses.tool.at(row);
    const rank = (seen[tool] ?? 0) + 1;
    seen[tool] = rank;
    ranks[row] = rank;
    if (rank <= retained || marks.responses[row] !== 0) continue;
    if ((responses.flags.at(row) & settled) === 0) marks.responses[row] = pointer;
  }
  return ranks;
}

/** How many results of each tool keep their payload, at least 1. */
function resultsKept(retention: number): number {
  return retention >= 1 ? Math.floor(retention) : 1;
}
