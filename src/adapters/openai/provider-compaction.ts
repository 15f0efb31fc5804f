// Compaction by OpenAI's Responses API and compatible ones: sends the request, and reads the answer.

import { asArray, asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';
import {
  COMPACTION_TRIGGER,
  compactionFailed,
  isCompactionPart,
  isServerHeld,
} from '../format/provider-compaction.js';
import type { CompactMessages } from '../format/provider-compaction.js';

type Send = (body: never, options?: { readonly signal?: AbortSignal }) => PromiseLike<unknown>;

/** The methods of an `openai` client that are used; one of them is enough. For xAI, use a client with xAI's base URL. */
export interface CompactingClient {
  readonly responses: { readonly compact?: Send; readonly create?: Send };
}

/** HTTP statuses of servers that lack the endpoint. */
const UNKNOWN_ENDPOINT: ReadonlySet<unknown> = new Set([404, 405, 501]);

/**
 * Returns the `compactByProvider` of a call, for the strategy `provider`. It has items compacted by `/responses/compact` or, if client
 * or server do not support that, by a request that ends with a `compaction_trigger`. Not for requests with `previous_response_id` or
 * `conversation`, whose items the server keeps: for them it rejects.
 *
 * @param model the model that the items are for
 * @param request other fields of requests to that model (`tools`, `instructions`, `store` …), so that the request with the trigger
 *   hits the prompt cache that they have filled @default none
 */
export function providerCompaction(
  client: CompactingClient,
  model: string,
  request: Readonly<Record<string, unknown>> = {},
): CompactMessages {
  return async (input, signal, instructions = []) => {
    if (isServerHeld(request))
      throw compactionFailed('the server holds the items of these requests.');
    const { responses } = client;
    const byEndpoint = { model, input };
    // An ordinary request, which reads from the cache what those before it have written; the endpoint leaves instructions out.
    const triggering = [...instructions, ...input, COMPACTION_TRIGGER];
    const byTrigger = { ...request, stream: false, model, input: triggering };
    let answer = await answerTo(() => responses.compact?.(byEndpoint as never, { signal }));
    const isTriggered = answer === null;
    answer ??= await answerTo(() => responses.create?.(byTrigger as never, { signal }));
    if (answer === null) throw compactionFailed('the provider knows no compaction.');
    // xAI answers with the compaction item itself, not with a list.
    const output = answer['type'] === 'compaction' ? [answer] : asArray(answer['output']);
    const all = output.filter(isRecord);
    const newest = all.findLastIndex(isCompactionPart);
    if (newest === -1) throw compactionFailed('the provider made no compaction.');
    // The endpoint returns all items to continue with. A response to the trigger may have other output beside the compaction.
    const items = isTriggered ? all.slice(newest, newest + 1) : all;
    // Each later request begins with these items, so it would be refused as well.
    if (!isTriggered && (all.length < output.length || hasOpenCall(all)))
      throw compactionFailed('the provider answered with what no request may hold.');
    return {
      items: items.map((data) => ({
        kind: asText(data['type']) ?? 'message',
        data,
        tokens: tokensOfCharacters(JSON.stringify(data).length),
      })),
      keepsReasoning: true,
    };
  };
}

/** Whether a call of the application's tools among the items has no output, or an output no call. */
function hasOpenCall(items: readonly JsonRecord[]): boolean {
  const open = new Set<unknown>();
  for (const { type, call_id: id } of items) {
    if (type === 'function_call' || type === 'custom_tool_call') open.add(id);
    else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      if (!open.delete(id)) return true;
    }
  }
  return open.size > 0;
}

/** Returns the provider's answer; `null` if the client or the server does not support the request. */
async function answerTo(send: () => PromiseLike<unknown> | undefined): Promise<JsonRecord | null> {
  try {
    const pending = send();
    return pending === undefined ? null : (asRecord(await pending) ?? {});
  } catch (thrown) {
    if (UNKNOWN_ENDPOINT.has(asRecord(thrown)?.['status'])) return null;
    throw thrown;
  }
}
