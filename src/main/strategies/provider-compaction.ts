// The port to a provider's own compaction: what is asked of whoever can make requests, and how the answer stands in a history.

import { COMPACTION_KIND } from '../../shared/content.js';
import type { ContentBlock, IContent } from '../../shared/content.js';

/** What is to be compacted. */
export interface ProviderCompactionRequest {
  readonly history: readonly IContent[];
  /** The entries before this one; fewer, where messages could not be divided there. No call before it is answered behind it. */
  readonly tailStart: number;
  readonly signal: AbortSignal | undefined;
}

/** What a provider made of the entries. */
export interface ProviderCompacted {
  /** How many entries it stands in for, from the start. */
  readonly length: number;
  /** What the provider answered, at least one: each becomes an entry, and a message of its own. */
  readonly items: readonly ProviderItem[];
  /** Whether reasoning behind it stays valid. */
  readonly keepsReasoning: boolean;
}

/** A part of what a provider answered. Its data is nobody's but the provider's, and goes back as it came. */
export interface ProviderItem {
  readonly kind: string;
  readonly data: unknown;
  /** About how many tokens it takes. */
  readonly tokens: number;
}

/**
 * Asks a provider to compact the entries before a place. Rejects when it refused, answered with nothing, or cannot be asked:
 * then the strategy of `compression.fallback` takes its place.
 */
export type CompactByProvider = (request: ProviderCompactionRequest) => Promise<ProviderCompacted>;

const REASON = 'provider-compaction';

/** Returns the entry that holds what a provider answered. Like a summary, it is never taken for what the user asked. */
export function providerEntry({ kind, data, tokens }: ProviderItem): IContent {
  const { metadata, ...entry } = entryOfProvider([{ type: 'opaque', kind, tokens }]);
  return { ...entry, metadata: { ...metadata, providerMetadata: data } };
}

/** The same of blocks that were read. */
export function entryOfProvider<Block extends ContentBlock>(
  blocks: readonly Block[],
): IContent & { readonly blocks: readonly Block[] } {
  return {
    speaker: 'human',
    blocks,
    metadata: { isSummary: true, synthetic: true, reason: REASON },
  };
}

/** Whether an entry holds what a provider answered. */
export function isProviderEntry({ metadata, blocks }: IContent): boolean {
  return metadata?.reason === REASON && metadata.synthetic === true && blocks[0]?.type === 'opaque';
}

/** Returns the index of the newest entry from `from` on that holds a provider's compaction, or -1. */
export function newestCompaction(history: readonly IContent[], from: number): number {
  for (let at = history.length - 1; at >= from; at -= 1) {
    const entry = history[at];
    if (entry === undefined || !isProviderEntry(entry)) continue;
    const [block] = entry.blocks;
    if (block?.type === 'opaque' && block.kind === COMPACTION_KIND) return at;
  }
  return -1;
}
