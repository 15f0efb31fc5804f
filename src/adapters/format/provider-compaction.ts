// Compactions made by a provider, as parts of messages and as entries: what several formats share. Makes no request itself.

import { CompressionExecutionError } from '../../shared/errors.js';
import { asArray, asFilledText, asRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { COMPACTION_KIND, isCompaction } from '../../shared/content.js';
import type { IContent, OpaqueBlock } from '../../shared/content.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';
import type { ProviderCompacted } from '../../main/strategies/provider-compaction.js';
import { entryOfProvider, isProviderEntry } from '../../main/strategies/provider-compaction.js';
import { HISTORY_LISTS, isHeld } from './history-lists.js';
import type {
  MessageFormat,
  PlacedBlock,
  PlacedEntry,
  ProviderMessages,
} from './message-format.js';

/**
 * Asks a provider to compact the first messages of a conversation. Rejects if the provider refuses, or its answer is empty.
 *
 * @param instructions the instructions for the model in front of these messages. They stay as they are; a request that is to hit the
 *   prompt cache begins with them
 */
export type CompactMessages = (
  messages: readonly unknown[],
  signal: AbortSignal,
  instructions?: readonly unknown[],
) => Promise<Pick<ProviderCompacted, 'items' | 'keepsReasoning'>>;

/** Creates the error for a failed compaction. The message must not quote the conversation. */
export function compactionFailed(message: string): CompressionExecutionError {
  return new CompressionExecutionError('provider', message, { code: 'PROVIDER_COMPACTION_FAILED' });
}

/** Returns the newest compaction in an output of the Responses API, or of an SDK with the same format. */
export function newestCompaction(output: unknown): JsonRecord | undefined {
  const items = asArray(output).map(asRecord);
  return items.findLast((item) => item !== undefined && isCompactionPart(item));
}

/** Returns a compaction of the Responses API as the answer of a `CompactMessages`. @throws CompressionExecutionError if there is none. */
export function compactedTo(data: unknown): Awaited<ReturnType<CompactMessages>> {
  if (data === undefined) throw compactionFailed('the provider made no compaction.');
  const tokens = estimatePayloadTokens(data);
  return { items: [{ kind: COMPACTION_KIND, data, tokens }], keepsReasoning: true };
}

/** As the last item of a request to the Responses API, requests a compaction. */
export const COMPACTION_TRIGGER = { type: 'compaction_trigger' } as const;

/** A compaction item of the Responses API may be anywhere; system and developer messages stay in place. */
export const ITEM_PROVIDER_MESSAGES: ProviderMessages<never> = {
  allowsPinned: true,
  divides: () => true,
  write: (item) => item as never,
};

const STATE_OPTIONS = [...HISTORY_LISTS.input.heldBy, 'previousResponseId'];

/** Whether the server holds the items of any of these requests, as their fields or their options in any SDK say. */
export function isServerHeld(...requests: readonly unknown[]): boolean {
  try {
    return requests.some((request) => isHeld(STATE_OPTIONS, asRecord(request) ?? {}));
  } catch {
    // Options that throw when read also throw for whoever sends the request, who reports it.
    return false;
  }
}

/** Warning for requests of whose history the server holds a part: why nothing can be compacted, and what to do. */
export const SERVER_HELD =
  "the server holds a part of the history of these requests (previous_response_id, conversation, cachedContent), so that nothing can be compacted; send all of it each time, or have OpenAI's server compact by context_management";

/** Returns the block of a compaction that a provider made by itself. */
export function compactionBlock(block: OpaqueBlock, provider: 'anthropic' | 'openai'): OpaqueBlock {
  return { ...block, kind: COMPACTION_KIND, provider };
}

/** Splits an entry at the compactions that a provider made by itself, each of which gets its own entry. */
export function splitAtCompactions(entry: PlacedEntry): readonly PlacedEntry[] {
  if (!entry.blocks.some(isCompaction)) return [entry];
  const entries: PlacedEntry[] = [];
  let others: PlacedBlock[] = [];
  const flush = (): void => {
    if (others.length > 0) entries.push({ ...entry, blocks: others });
    others = [];
  };
  for (const block of entry.blocks) {
    if (isCompaction(block)) {
      flush();
      entries.push(entryOfProvider([block]));
    } else others.push(block);
  }
  flush();
  return entries;
}

/** Whether a part of a message is a compaction that succeeded: a failed one is empty. */
export function isCompactionPart(part: JsonRecord): boolean {
  const { type, content, encrypted_content: sealed } = part;
  return (
    type === COMPACTION_KIND && [content, sealed].some((text) => asFilledText(text) !== undefined)
  );
}

/** Converts an entry that ctxfold wrote, or that has a provider's answer, to a message. */
export function writeEntry<Message>(
  format: MessageFormat<Message>,
  entry: IContent,
  among: readonly Message[],
): Message {
  const { provider } = format;
  return provider !== undefined && isProviderEntry(entry)
    ? provider.write(entry.metadata?.providerMetadata, among)
    : format.write(entry, among);
}
