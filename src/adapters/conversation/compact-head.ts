// Has the provider compact the oldest messages of a conversation, through the call's `compactByProvider`.

import { CompressionExecutionError } from '../../shared/errors.js';
import { assertIngestible } from '../../shared/ingestion.js';
import { asArray, asRecord } from '../../shared/json.js';
import { runSlices } from '../../shared/slices.js';
import type { HistoryService } from '../../main/history-service.js';
import { providerOf } from '../../main/models/model-name.js';
import {
  canReadSame,
  isReadable,
  providerEntry,
} from '../../main/strategies/provider-compaction.js';
import type {
  ProviderCompacted,
  ProviderCompactionRequest,
  ProviderItem,
} from '../../main/strategies/provider-compaction.js';
import { withDeadline } from '../../main/waiting/abortable.js';
import type { MessageView } from './message-view.js';
import { compactionFailed } from '../format/provider-compaction.js';
import type { CompactMessages } from '../format/provider-compaction.js';

const TIMEOUT_MS = 300_000;

/** Whether a history holds a provider's compaction that its last model could read and the next one cannot. */
export function losesCompaction(
  history: Pick<HistoryService, 'getRawHistory' | 'modelName'> | undefined,
  nextModel: string | undefined,
): boolean {
  const modelName = history?.modelName;
  if (history === undefined || modelName === undefined) return false;
  // Hosts may take two models of one provider by turns: then nothing is searched.
  if (canReadSame(modelName, nextModel)) return false;
  return history
    .getRawHistory()
    .some((entry) => isReadable(entry, modelName) && !isReadable(entry, nextModel));
}

/** Converts the error of a request. Drops its message, which may quote what was sent. @throws the reason of an aborted signal. */
function failureOf(thrown: unknown, signal: AbortSignal): CompressionExecutionError {
  signal.throwIfAborted();
  if (thrown instanceof CompressionExecutionError) return thrown;
  const { status, statusCode = status } = asRecord(thrown) ?? {};
  if (typeof statusCode === 'number')
    return compactionFailed(`the provider refused with status ${statusCode}.`);
  const name = thrown instanceof Error ? thrown.name : typeof thrown;
  return compactionFailed(`the request for it failed (${name}).`);
}

/**
 * Has the provider compact the messages of the first entries.
 *
 * @param current the history with the edits of the running preflight, which the view does not have yet
 * @throws CompressionExecutionError, or the signal's reason.
 */
export async function compactHead<Message>(
  view: MessageView<Message>,
  current: Pick<HistoryService, 'getRawHistory' | 'modelName'>,
  ask: CompactMessages | undefined,
  { history, tailStart, signal }: ProviderCompactionRequest,
): Promise<ProviderCompacted> {
  if (ask === undefined) throw compactionFailed('this call brings nothing that asks the provider.');
  const { modelName } = current;
  runSlices(view.followInSlices(current.getRawHistory()));
  const head = view.divide(history, tailStart);
  if (head === null)
    throw compactionFailed('there is no place at which its messages can be divided.');
  const late = (): Error =>
    compactionFailed(`the provider gave no answer within ${TIMEOUT_MS} ms.`);
  const answer = await withDeadline(TIMEOUT_MS, signal, late, async (deadline) => {
    try {
      return await ask(head.messages, deadline, head.instructions);
    } catch (thrown) {
      throw failureOf(thrown, deadline);
    }
  });
  const items = asArray(asRecord(answer)?.['items']);
  if (items.length === 0) throw compactionFailed('the provider answered with nothing.');
  if (!items.every(isItem)) {
    throw compactionFailed('its answer is no list of items with `kind`, `data` and `tokens`.');
  }
  const provider = modelName === undefined ? undefined : providerOf(modelName);
  const { keepsReasoning } = answer;
  return {
    items: items.map((item) => ({ provider, ...item })),
    keepsReasoning,
    length: head.length,
  };
}

/** Whether a history can hold an item, and a request its data: a host's own function may answer with anything. */
function isItem(item: unknown): item is ProviderItem {
  try {
    assertIngestible(providerEntry(item as ProviderItem), 0);
    return asRecord(asRecord(item)?.['data']) !== undefined;
  } catch {
    return false;
  }
}
