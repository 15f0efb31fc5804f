// Why what pruning leaves of a history stays: the explanations of the pass in the words of the report.

import { explainDensity } from '../../../density.js';
import type {
  BlockExplanation,
  DensityConfig,
  DensityExplanation,
  WorkingSetReason,
} from '../../../density.js';
import type { ContentBlock, IContent } from '../../../index.js';
import type { StayReason } from './analysis-report.js';
import { categoryOf } from '../measure/composition.js';

const NO_BLOCKS: ReadonlySet<number> = new Set();

/** Why each block of an entry stays. */
export class Retention {
  readonly #explain: DensityExplanation['explain'];
  readonly #config: DensityConfig;

  /**
   * @param explain that of the pass which pruned the history
   * @param config what it went by
   */
  constructor(explain: DensityExplanation['explain'], config: DensityConfig) {
    this.#explain = explain;
    this.#config = config;
  }

  /**
   * Returns the reasons of the blocks that pruning has left of an entry. A call and its response stay for the same.
   *
   * @param entry the entry as it was left
   * @param index its index before
   */
  reasonsOf(entry: IContent, index: number): readonly StayReason[] {
    const left = this.#explain(index).blocks.filter(({ verdict }) => verdict !== 'dropped');
    const including = entry.speaker === 'human' ? this.#including(entry) : NO_BLOCKS;
    return entry.blocks.map((block, at) => {
      // Only human entries have blocks that are explained more than once, and no calls.
      const explained = entry.speaker === 'human' ? undefined : left[at];
      if (block.type === 'tool_call' || block.type === 'tool_response') {
        return explained === undefined ? 'other-call' : this.#reasonOfCall(explained);
      }
      return reasonOfOther(block, entry, including.has(at));
    });
  }

  /** The blocks of an entry that include files. */
  #including(entry: IContent): ReadonlySet<number> {
    const { blocks } = explainDensity([entry], { ...this.#config, fileDedupe: true }).explain(0);
    return new Set(blocks.filter(({ rule }) => rule === 'file-dedupe').map(({ block }) => block));
  }

  #reasonOfCall(explained: BlockExplanation): StayReason {
    const { partner, purpose, type } = explained;
    if (partner === null) return 'open-call';
    if (purpose === 'write') return 'write';
    if (type !== 'tool_call') return reasonOfResult(explained);
    const result = this.#explain(partner.entry).blocks.find(({ block }) => block === partner.block);
    return result === undefined ? 'other-call' : reasonOfResult(result);
  }
}

function reasonOfResult(result: BlockExplanation): StayReason {
  if (result.verdict === 'excerpt') return 'shortened-result';
  if (result.verdict === 'placeholder') return 'pruned-result';
  if (result.reason === 'gone') return 'pruned-result';
  if (result.rule === 'working-set') {
    return REASONS_IN_USE[result.reason] ?? 'other-call';
  }
  return REASONS_BY_RULE[result.rule] ?? 'other-call';
}

/** Of rules that let a result stay. */
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
