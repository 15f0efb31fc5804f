// Why blocks of a history stay: maps the explanations of one more density pass over the remaining history to the report's reasons.

import { explainDensity } from '../../density.js';
import type { BlockExplanation, DensityConfig, WorkingSetReason } from '../../density.js';
import type { ContentBlock, IContent } from '../../index.js';
import type { StayReason } from './analysis-report.js';
import { categoryOf } from '../measure/composition.js';
import type { RecordedContext } from '../replay/attributed-steps.js';

/**
 * Returns a function that takes an entry of `remaining` and its index there, and returns the reason of each of its blocks. A call has the
 * reason of its response.
 *
 * @param config configuration of the pass
 */
export function explainStays(
  { added, remaining }: RecordedContext,
  config: DensityConfig,
): (entry: IContent, index: number) => readonly StayReason[] {
  const { explain } = explainDensity(remaining, config);
  const original = new Set(added.flatMap(({ blocks }) => blocks));
  const reasonOfCall = (explained: BlockExplanation, block: ContentBlock): StayReason => {
    const { partner, purpose, type, reason } = explained;
    if (reason === 'open') return 'open-call';
    if (purpose === 'write') return 'write';
    if (type !== 'tool_call' || partner === null)
      return reasonOfResult(explained, original.has(block));
    const result = explain(partner.entry).blocks.find((each) => each.block === partner.block);
    const answer = remaining[partner.entry]?.blocks[partner.block];
    return result && answer ? reasonOfResult(result, original.has(answer)) : 'other-call';
  };
  return (entry, index) => {
    const explained = explain(index).blocks;
    return entry.blocks.map((block, at) => {
      const found = explained.find((each) => each.block === at);
      if (block.type === 'tool_call' || block.type === 'tool_response') {
        return found === undefined ? 'other-call' : reasonOfCall(found, block);
      }
      return reasonOfOther(block, entry, found?.rule === 'file-dedupe');
    });
  };
}

function reasonOfResult(result: BlockExplanation, isOriginal: boolean): StayReason {
  if (result.verdict !== 'kept') return 'waiting-result';
  if (result.reason === 'gone') return 'pruned-result';
  if (!isOriginal) return 'shortened-result';
  if (result.rule === 'working-set') {
    return result.isWaiting ? 'waiting-result' : (REASONS_IN_USE[result.reason] ?? 'other-call');
  }
  return REASONS_BY_RULE[result.rule] ?? 'other-call';
}

/** Reasons by the pruning rule that keeps a result. */
const REASONS_BY_RULE: Readonly<Partial<Record<BlockExplanation['rule'], StayReason>>> = {
  recency: 'newest-result',
  'read-write': 'current-read',
};

const REASONS_IN_USE: Readonly<Partial<Record<WorkingSetReason, StayReason>>> = {
  unsent: 'recent-result',
  fresh: 'recent-result',
  small: 'small-result',
};

function reasonOfOther(block: ContentBlock, entry: IContent, isIncluding: boolean): StayReason {
  const category = categoryOf(block, entry);
  if (category === 'tool-call' || category === 'tool-result') return 'other-call';
  if (category === 'user-text' && isIncluding) return 'newest-inclusion';
  return category;
}
