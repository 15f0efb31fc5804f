// The composition of a history by category and tool. Callers pass the tokens of each entry, which are split over its blocks.

import { estimateEntryTokens } from '../../index.js';
import type { ContentBlock, IContent } from '../../index.js';
import { addTo, sumOf } from './aggregate.js';
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

/** Figures of one tool. */
export interface ToolShare {
  readonly calls: number;
  readonly resultTokens: number;
  readonly callTokens: number;
}

/** One block's share of its entry's tokens. */
export interface BlockShare {
  /** `null` for the overhead of an entry without blocks. */
  readonly block: ContentBlock | null;
  readonly category: Category;
  /** `null` for blocks without a tool. */
  readonly tool: string | null;
  readonly tokens: number;
}

/** What a history consists of. */
export interface Composition {
  /** Tokens by category. They sum up to the tokens of the entries. */
  readonly byCategory: ReadonlyMap<Category, number>;
  /** Blocks by category. */
  readonly blocksByCategory: ReadonlyMap<Category, number>;
  /** Figures by tool name, in order of first occurrence. */
  readonly byTool: ReadonlyMap<string, ToolShare>;
}

/** Returns the composition of a history. */
export function compositionOf(
  entries: readonly IContent[],
  tokensOf: (entry: IContent) => number,
): Composition {
  const byCategory = new Map<Category, number>();
  const blocksByCategory = new Map<Category, number>();
  const byTool = new Map<string, ToolShare>();
  for (const share of entries.flatMap((entry) => sharesOf(entry, tokensOf(entry)))) {
    const { block, category, tool, tokens } = share;
    addTo(byCategory, category, tokens);
    addTo(blocksByCategory, category, block === null ? 0 : 1);
    if (tool === null) continue;
    const { calls, resultTokens, callTokens } = byTool.get(tool) ?? NO_SHARE;
    byTool.set(
      tool,
      category === 'tool-call'
        ? { calls: calls + 1, resultTokens, callTokens: callTokens + tokens }
        : { calls, resultTokens: resultTokens + tokens, callTokens },
    );
  }
  return { byCategory, blocksByCategory, byTool };
}

const NO_SHARE: ToolShare = { calls: 0, resultTokens: 0, callTokens: 0 };

/** What edits removed of one tool. */
export interface ToolDifference extends ToolShare {
  readonly tool: string;
  /** Tokens of the tool's calls that are gone; at most `callTokens`. */
  readonly reclaimedCallTokens: number;
  /** Tokens of its results that are gone; at most `resultTokens`. */
  readonly reclaimedResultTokens: number;
}

/** Compares the tools of a history before and after edits. */
export function toolDifferences(
  before: Composition,
  after: Composition,
): readonly ToolDifference[] {
  return Array.from(before.byTool, ([tool, share]) => {
    const left = after.byTool.get(tool);
    return {
      tool,
      ...share,
      // An edit changes how an entry's tokens are split over its blocks, so a tool's share can appear to grow.
      reclaimedCallTokens: Math.max(0, share.callTokens - (left?.callTokens ?? 0)),
      reclaimedResultTokens: Math.max(0, share.resultTokens - (left?.resultTokens ?? 0)),
    };
  });
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
