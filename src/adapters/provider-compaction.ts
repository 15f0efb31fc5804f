// From a session that wants its oldest entries compacted by the provider to messages that the provider is sent. Makes no request
// itself: that is what a call of the adapter brings along.

import { CompressionExecutionError } from '../shared/errors.js';
import { asArray, asFilledText, asRecord } from '../shared/json.js';
import type { JsonRecord } from '../shared/json.js';
import { COMPACTION_KIND } from '../shared/content.js';
import type { IContent } from '../shared/content.js';
import { estimatePayloadTokens } from '../shared/tokens/estimate.js';
import type { HistoryService } from '../main/history-service.js';
import type {
  ProviderCompacted,
  ProviderCompactionRequest,
} from '../main/strategies/provider-compaction.js';
import { entryOfProvider, isProviderEntry } from '../main/strategies/provider-compaction.js';
import { withDeadline } from '../main/waiting/abortable.js';
import type {
  MessageFormat,
  PlacedBlock,
  PlacedEntry,
  ProviderMessages,
} from './message-format.js';
import type { MessageView } from './message-view.js';

/** Asks a provider to compact messages, the first ones of a conversation. Rejects when it refused, or answered with nothing. */
export type CompactMessages = (
  messages: readonly unknown[],
  signal: AbortSignal,
) => Promise<Pick<ProviderCompacted, 'items' | 'keepsReasoning'>>;

/** Time that a provider has for it, in milliseconds. */
const TIMEOUT_MS = 300_000;

/** The failure of a compaction by a provider, in words that hold nothing of a conversation. */
export function compactionFailed(
  message: string,
  options?: ErrorOptions,
): CompressionExecutionError {
  return new CompressionExecutionError('provider', message, {
    code: 'PROVIDER_COMPACTION_FAILED',
    ...options,
  });
}

/** Whatever ended a request for one, as such a failure: messages of an SDK may quote what was sent. @throws the reason of a signal that has ended it. */
function failureOf(thrown: unknown, signal: AbortSignal): CompressionExecutionError {
  signal.throwIfAborted();
  if (thrown instanceof CompressionExecutionError) return thrown;
  const { status, statusCode = status } = asRecord(thrown) ?? {};
  if (typeof statusCode === 'number')
    return compactionFailed(`the provider refused with status ${statusCode}.`);
  const name = thrown instanceof Error ? thrown.name : typeof thrown;
  return compactionFailed(`the request for it failed (${name}).`);
}

/** The newest compaction among what the Responses API, or an SDK of the same words, lists as output. */
export function newestCompaction(output: unknown): JsonRecord | undefined {
  const items = asArray(output).map(asRecord);
  return items.findLast((item) => item !== undefined && isCompactionPart(item));
}

/** The compaction of the Responses API that a model has made, as the data of a message; none where it made none. */
export function compactedTo(data: unknown): Awaited<ReturnType<CompactMessages>> {
  if (data === undefined) throw compactionFailed('the provider made no compaction.');
  const tokens = estimatePayloadTokens(data);
  return { items: [{ kind: COMPACTION_KIND, data, tokens }], keepsReasoning: true };
}

/** Asks for a compaction, as the last item of a request to the Responses API. */
export const COMPACTION_TRIGGER = { type: 'compaction_trigger' } as const;

/** Compactions of the Responses API may stand anywhere; what the system and developers said stays where it is. */
export const ITEM_PROVIDER_MESSAGES: ProviderMessages<never> = {
  takesPinned: true,
  divides: () => true,
  write: (item) => item as never,
};

const HELD = ['previous_response_id', 'previousResponseId', 'conversation', 'conversationId'];

/** @throws CompressionExecutionError where the server has the items of requests like these, in the words of any SDK */
export function assertHoldsNoItems(...requests: readonly unknown[]): void {
  if (requests.some((request) => HELD.some((key) => asRecord(request)?.[key])))
    throw compactionFailed('the server holds the items of these requests.');
}

/**
 * Has the messages of the first entries compacted.
 *
 * @param standing the history as it stands: messages do not show yet what the preflight that asks has edited
 * @throws CompressionExecutionError, or the signal's reason.
 */
export async function compactHead<Message>(
  view: MessageView<Message>,
  standing: Pick<HistoryService, 'getRawHistory'>,
  ask: CompactMessages | undefined,
  { history, tailStart, signal }: ProviderCompactionRequest,
): Promise<ProviderCompacted> {
  if (ask === undefined) throw compactionFailed('this call brings nothing that asks the provider.');
  view.follow(standing.getRawHistory());
  const head = view.divide(history, tailStart);
  if (head === null)
    throw compactionFailed('there is no place at which its messages can be divided.');
  const late = (): Error =>
    compactionFailed(`the provider gave no answer within ${TIMEOUT_MS} ms.`);
  const answer = await withDeadline(TIMEOUT_MS, signal, late, async (deadline) => {
    try {
      return await ask(head.messages, deadline);
    } catch (thrown) {
      throw failureOf(thrown, deadline);
    }
  });
  if (answer.items.length === 0) throw compactionFailed('the provider answered with nothing.');
  return { ...answer, length: head.length };
}

/** Sets what a provider has compacted at a threshold of its own apart from what stands beside it in an entry; `undefined` where there is none. */
export function withCompactionsApart(entry: PlacedEntry): readonly PlacedEntry[] | undefined {
  if (!entry.blocks.some(isCompaction)) return undefined;
  const apart: PlacedEntry[] = [];
  let beside: PlacedBlock[] = [];
  const end = (): void => {
    if (beside.length > 0) apart.push({ ...entry, blocks: beside });
    beside = [];
  };
  for (const block of entry.blocks) {
    if (isCompaction(block)) {
      end();
      apart.push(entryOfProvider([block]));
    } else beside.push(block);
  }
  end();
  return apart;
}

function isCompaction(block: PlacedBlock): boolean {
  return block.type === 'opaque' && block.kind === COMPACTION_KIND;
}

/** Whether a part of a message is a compaction; one that failed holds nothing. */
export function isCompactionPart(part: JsonRecord): boolean {
  const { type, content, encrypted_content: sealed } = part;
  return (
    type === COMPACTION_KIND && [content, sealed].some((text) => asFilledText(text) !== undefined)
  );
}

/** Writes an entry that ctxfold made, or that holds what a provider answered, as a message. */
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
