// The port to a provider's own compaction: the request, the answer, and the entries that hold the answer in a history.

import { isCompaction } from '../../shared/content.js';
import type { ContentBlock, IContent } from '../../shared/content.js';
import { providerOf } from '../models/model-name.js';

/** What is to be compacted. */
export interface ProviderCompactionRequest {
  readonly history: readonly IContent[];
  /**
   * Compact the entries before this one, or fewer if messages cannot be split there. No call in front of it is answered behind
   * it.
   */
  readonly tailStart: number;
  readonly signal: AbortSignal | undefined;
}

/** What a provider made of the entries. */
export interface ProviderCompacted {
  /** Number of entries that it replaces, from the start. */
  readonly length: number;
  /** The provider's answer, at least one item: each becomes an entry and a message of its own. */
  readonly items: readonly ProviderItem[];
  /** Whether reasoning behind it stays valid. */
  readonly keepsReasoning: boolean;
}

/** A part of the provider's answer. Its data is opaque, and is sent back unchanged. */
export interface ProviderItem {
  readonly kind: string;
  readonly data: unknown;
  /** Approximate tokens. */
  readonly tokens: number;
  /** The provider whose models alone can read it. @default any */
  readonly provider?: string | undefined;
}

/**
 * Asks a provider to compact the entries before a place. Rejects if the provider refused, returned nothing, or cannot be asked:
 * the strategy in `compression.fallback` is used then.
 */
export type CompactByProvider = (request: ProviderCompactionRequest) => Promise<ProviderCompacted>;

const REASON = 'provider-compaction';

/** Returns an entry with an item of the provider's answer. Like a summary, it never counts as a request of the user. */
export function providerEntry({ kind, data, tokens, provider }: ProviderItem): IContent {
  const block = {
    type: 'opaque',
    kind,
    tokens,
    ...(provider !== undefined && { provider }),
  } as const;
  const { metadata, ...entry } = entryOfProvider([block]);
  return { ...entry, metadata: { ...metadata, providerMetadata: data } };
}

/** Returns such an entry for blocks that were read. */
export function entryOfProvider<Block extends ContentBlock>(
  blocks: readonly Block[],
): IContent & { readonly blocks: readonly Block[] } {
  return {
    speaker: 'human',
    blocks,
    metadata: { isSummary: true, synthetic: true, reason: REASON },
  };
}

/** Whether an entry holds a provider's answer. */
export function isProviderEntry({ metadata, blocks }: IContent): boolean {
  return metadata?.reason === REASON && metadata.synthetic === true && blocks[0]?.type === 'opaque';
}

/** Whether a model can read an entry, if that holds a provider's answer: one of another provider cannot. */
export function isReadable({ blocks }: IContent, modelName: string | undefined): boolean {
  const [block] = blocks;
  const provider = block?.type === 'opaque' ? block.provider : undefined;
  return provider === undefined || modelName === undefined || provider === providerOf(modelName);
}

/** Whether two models can read the same compactions; `null` stands for no model at all. */
export function canReadSame(one: string | null | undefined, other: string | undefined): boolean {
  if (one === other) return true;
  return typeof one === 'string' && other !== undefined && providerOf(one) === providerOf(other);
}

/** Returns the index of the newest entry from `from` on that holds a compaction which the model can read, or -1. */
export function newestCompaction(
  history: readonly IContent[],
  from: number,
  modelName: string | undefined,
): number {
  for (let at = history.length - 1; at >= from; at -= 1) {
    const entry = history[at];
    if (entry === undefined || !isProviderEntry(entry) || !isCompaction(entry.blocks[0])) continue;
    if (isReadable(entry, modelName)) return at;
  }
  return -1;
}
