// The composition of a history by category and tool, updated incrementally per entry. Callers pass the tokens of each entry,
// which are split over its blocks.

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

/** Running sums over the entries that were added and not yet removed. */
export class Composition {
  readonly #tokens = zeros();
  readonly #blocks = zeros();
  readonly #tools = new Map<string, ToolShare>();

  /** Adds an entry with its tokens. */
  add(entry: IContent, tokens: number): void {
    for (const share of sharesOf(entry, tokens)) this.#change(share, 1);
  }

  /** Removes an entry that was added with the same tokens. */
  remove(entry: IContent, tokens: number): void {
    for (const share of sharesOf(entry, tokens)) this.#change(share, -1);
  }

  /** Tokens by category, with all categories in order. They sum up to the tokens of the entries. */
  get byCategory(): ReadonlyMap<Category, number> {
    return this.#tokens;
  }

  /** Blocks by category, with all categories in order. */
  get blocksByCategory(): ReadonlyMap<Category, number> {
    return this.#blocks;
  }

  /** Figures by tool name, in order of first occurrence. */
  get byTool(): ReadonlyMap<string, ToolShare> {
    return this.#tools;
  }

  #change({ block, category, tool, tokens }: BlockShare, sign: 1 | -1): void {
    addTo(this.#tokens, category, sign * tokens);
    addTo(this.#blocks, category, block === null ? 0 : sign);
    if (tool === null) return;
    const former = this.#tools.get(tool) ?? { calls: 0, resultTokens: 0, callTokens: 0 };
    const isCall = category === 'tool-call';
    const present = {
      calls: former.calls + (isCall ? sign : 0),
      resultTokens: former.resultTokens + (isCall ? 0 : sign * tokens),
      callTokens: former.callTokens + (isCall ? sign * tokens : 0),
    };
    if (present.calls === 0 && present.resultTokens === 0) this.#tools.delete(tool);
    else this.#tools.set(tool, present);
  }
}

/** Returns the composition of a history. */
export function compositionOf(
  entries: readonly IContent[],
  tokensOf: (entry: IContent) => number,
): Composition {
  const composition = new Composition();
  for (const entry of entries) composition.add(entry, tokensOf(entry));
  return composition;
}

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

function zeros(): Map<Category, number> {
  return new Map(CATEGORIES.map((category) => [category, 0]));
}
