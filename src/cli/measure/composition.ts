// The shares of the blocks of a history in its tokens, by category and tool. Callers pass the tokens of each entry.

import { estimateEntryTokens } from '../../index.js';
import type { ContentBlock, IContent } from '../../index.js';
import { groupBy, sumOf } from './aggregate.js';
import { callOf } from './entry-difference.js';

/** Categories of blocks, in the order of reports. */
export const CATEGORY_NAMES = {
  'user-text': 'user text',
  'assistant-text': 'assistant text',
  thinking: 'thinking',
  'tool-call': 'tool calls',
  'tool-result': 'tool results',
  media: 'media',
  summary: 'summaries',
  other: 'other',
} as const;

export type Category = keyof typeof CATEGORY_NAMES;

/** All categories in the order of reports. */
export const CATEGORIES = Object.keys(CATEGORY_NAMES) as readonly Category[];

/** One block's share of its entry's tokens. */
export interface BlockShare {
  /** `null` for the overhead of an entry without blocks. */
  readonly block: ContentBlock | null;
  readonly category: Category;
  /** `null` for blocks without a tool. */
  readonly tool: string | null;
  readonly tokens: number;
}

/** Figures of one tool, and what edits removed of them. */
export interface ToolDifference {
  readonly tool: string;
  readonly calls: number;
  readonly callTokens: number;
  readonly resultTokens: number;
  /** Tokens of the tool's calls that are gone; at most `callTokens`. */
  readonly reclaimedCallTokens: number;
  /** Tokens of its results that are gone; at most `resultTokens`. */
  readonly reclaimedResultTokens: number;
}

/** Compares the tools of a history before and after edits, in order of first occurrence. */
export function toolDifferences(
  before: readonly BlockShare[],
  after: readonly BlockShare[],
): readonly ToolDifference[] {
  const left = groupBy(after, ({ tool }) => tool);
  return Array.from(groupBy(before, ({ tool }) => tool)).flatMap(([tool, shares]) => {
    if (tool === null) return [];
    const callTokens = tokensIn(shares, 'tool-call');
    const resultTokens = tokensIn(shares, 'tool-result');
    const now = left.get(tool) ?? [];
    return {
      tool,
      calls: shares.filter(({ category }) => category === 'tool-call').length,
      callTokens,
      resultTokens,
      // An edit changes how an entry's tokens are split over its blocks, so a tool's share can appear to grow.
      reclaimedCallTokens: Math.max(0, callTokens - tokensIn(now, 'tool-call')),
      reclaimedResultTokens: Math.max(0, resultTokens - tokensIn(now, 'tool-result')),
    };
  });
}

function tokensIn(shares: readonly BlockShare[], wanted: Category): number {
  return sumOf(shares, ({ category, tokens }) => (category === wanted ? tokens : 0));
}

/**
 * Splits the tokens of an entry over its blocks in proportion to their estimated tokens.
 *
 * @returns whole tokens by block, which sum up to `tokens`; empty for an entry without blocks
 */
export function tokensByBlock({ speaker, blocks }: IContent, tokens: number): readonly number[] {
  if (blocks.length === 1) return [tokens];
  const frame = estimateEntryTokens({ speaker, blocks: [] });
  const weights = blocks.map((block) => estimateEntryTokens({ speaker, blocks: [block] }) - frame);
  const total = sumOf(weights, (weight) => weight);
  let weightSoFar = 0;
  let tokensSoFar = 0;
  // Rounds the prefix sum instead of each part, so that the parts sum up exactly to `tokens`.
  return weights.map((weight, at) => {
    weightSoFar += weight;
    const end = total === 0 ? (tokens * (at + 1)) / weights.length : (tokens * weightSoFar) / total;
    const part = Math.round(end) - tokensSoFar;
    tokensSoFar += part;
    return part;
  });
}

/** Returns the category of a block in its entry. */
export function categoryOf(block: ContentBlock, entry: IContent): Category {
  switch (block.type) {
    case 'text':
    case 'code':
      if (entry.metadata?.isSummary === true) return 'summary';
      return TEXT_CATEGORIES[entry.speaker];
    case 'thinking':
      return 'thinking';
    case 'tool_call':
      return 'tool-call';
    case 'tool_response':
      return 'tool-result';
    case 'media':
      return 'media';
    case 'opaque':
      return 'other';
  }
}

const TEXT_CATEGORIES = { human: 'user-text', ai: 'assistant-text', tool: 'other' } as const;

/** Returns the shares of all blocks of a history. */
export function sharesIn(
  entries: readonly IContent[],
  tokensOf: (entry: IContent) => number,
): readonly BlockShare[] {
  return entries.flatMap((entry) => sharesOf(entry, tokensOf(entry)));
}

/** Returns the share of each block, or one for an entry without blocks. */
export function sharesOf(entry: IContent, tokens: number): readonly BlockShare[] {
  if (entry.blocks.length === 0) return [{ block: null, category: 'other', tool: null, tokens }];
  const parts = tokensByBlock(entry, tokens);
  return entry.blocks.map((block, at) => ({
    block,
    category: categoryOf(block, entry),
    tool: callOf(block).toolName,
    tokens: parts[at] ?? 0,
  }));
}
