// What a history consists of, kept up to date entry by entry. Counts no tokens itself: it is told what
// each entry weighs, and splits that over the entry's blocks.

import { estimateEntryTokens } from '../../../index.js';
import type { ContentBlock, IContent } from '../../../index.js';

/** What the blocks of a history are, in the order in which reports list it. */
export const CATEGORIES = [
  'user-text',
  'assistant-text',
  'thinking',
  'tool-call',
  'tool-result',
  'media',
  'summary',
  'other',
] as const;

export type Category = (typeof CATEGORIES)[number];

/** What the calls of one tool come to. */
export interface ToolShare {
  readonly calls: number;
  readonly resultTokens: number;
  readonly callTokens: number;
}

/** One block's part of what its entry weighs. */
interface BlockShare {
  readonly category: Category;
  /** `null` for blocks that belong to no tool. */
  readonly tool: string | null;
  readonly tokens: number;
  /** 0 for what frames an entry that has none. */
  readonly blocks: 0 | 1;
}

/** The sums over the entries that were added and not removed again. */
export class Composition {
  /** By entry, what each time that it was added came to: a history may hold one object twice. */
  readonly #shares = new Map<IContent, (readonly BlockShare[])[]>();
  readonly #tokens = zeros();
  readonly #blocks = zeros();
  readonly #tools = new Map<string, ToolShare>();

  /** Adds an entry that weighs so many tokens. */
  add(entry: IContent, tokens: number): void {
    const shares = sharesOf(entry, tokens);
    const former = this.#shares.get(entry);
    if (former === undefined) this.#shares.set(entry, [shares]);
    else former.push(shares);
    for (const share of shares) this.#change(share, 1);
  }

  /** Takes back what an entry came to. @throws RangeError when it was not added. */
  remove(entry: IContent): void {
    const added = this.#shares.get(entry);
    const shares = added?.pop();
    if (shares === undefined) {
      throw new RangeError('Expected an entry that was added; this one was not.');
    }
    if (added?.length === 0) this.#shares.delete(entry);
    for (const share of shares) this.#change(share, -1);
  }

  /** Tokens by category: all categories, in their order. They sum up to what the entries weigh. */
  get byCategory(): ReadonlyMap<Category, number> {
    return this.#tokens;
  }

  /** Blocks by category: all categories, in their order. */
  get blocksByCategory(): ReadonlyMap<Category, number> {
    return this.#blocks;
  }

  /** What each tool's calls and results come to, by name, in the order in which the tools came. */
  get byTool(): ReadonlyMap<string, ToolShare> {
    return this.#tools;
  }

  #change({ category, tool, tokens, blocks }: BlockShare, sign: 1 | -1): void {
    raise(this.#tokens, category, sign * tokens);
    raise(this.#blocks, category, sign * blocks);
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

/**
 * Splits what an entry weighs over its blocks, in proportion to what each is estimated at.
 *
 * @returns whole tokens by block, which sum up to `tokens`; none for an entry without blocks.
 */
export function tokensByBlock({ speaker, blocks }: IContent, tokens: number): readonly number[] {
  if (blocks.length === 1) return [tokens];
  const frame = estimateEntryTokens({ speaker, blocks: [] });
  const weights = blocks.map((block) => estimateEntryTokens({ speaker, blocks: [block] }) - frame);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let weightSoFar = 0;
  let tokensSoFar = 0;
  // The running sum is rounded, not each part: so nothing is lost.
  return weights.map((weight, at) => {
    weightSoFar += weight;
    const end = total === 0 ? (tokens * (at + 1)) / weights.length : (tokens * weightSoFar) / total;
    const part = Math.round(end) - tokensSoFar;
    tokensSoFar += part;
    return part;
  });
}

/** What a block counts as in the entry that it stands in. */
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

function sharesOf(entry: IContent, tokens: number): readonly BlockShare[] {
  if (entry.blocks.length === 0) return [{ category: 'other', tool: null, tokens, blocks: 0 }];
  const parts = tokensByBlock(entry, tokens);
  return entry.blocks.map((block, at) => ({
    category: categoryOf(block, entry),
    tool: toolOf(block),
    tokens: parts[at] ?? 0,
    blocks: 1,
  }));
}

function toolOf(block: ContentBlock): string | null {
  if (block.type === 'tool_call') return block.name;
  return block.type === 'tool_response' ? block.toolName : null;
}

function zeros(): Map<Category, number> {
  return new Map(CATEGORIES.map((category) => [category, 0]));
}

function raise(sums: Map<Category, number>, category: Category, by: number): void {
  sums.set(category, (sums.get(category) ?? 0) + by);
}
