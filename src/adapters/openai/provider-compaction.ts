// Compaction by OpenAI's Responses API, and by whoever offers the same endpoint: the request, and what comes back.

import { asArray, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';
import {
  assertHoldsNoItems,
  COMPACTION_TRIGGER,
  compactionFailed,
  isCompactionPart,
} from '../provider-compaction.js';
import type { CompactMessages } from '../provider-compaction.js';

type Send = (body: never, options?: { readonly signal?: AbortSignal }) => PromiseLike<unknown>;

/** What is asked of a client of the `openai` package; of xAI, one with their base URL. Either call will do. */
export interface CompactingClient {
  readonly responses: { readonly compact?: Send; readonly create?: Send };
}

/** Answers of who does not know the endpoint. */
const UNKNOWN_ENDPOINT: ReadonlySet<unknown> = new Set([404, 405, 501]);

/**
 * Returns what has the items of a conversation compacted, as `compactByProvider` of a call, for the strategy `provider`: by
 * `/responses/compact`, or where client or server do not know that, by a request that ends in a `compaction_trigger`. Not for
 * requests with `previous_response_id` or `conversation`, whose items the server holds.
 *
 * @param model the one that the items go to
 * @param request what requests to it hold besides (`tools`, `instructions`, `store` …), so that the one with the trigger finds the
 *   cache that they have filled @default nothing
 */
export function providerCompaction(
  client: CompactingClient,
  model: string,
  request: Readonly<Record<string, unknown>> = {},
): CompactMessages {
  return async (input, signal) => {
    assertHoldsNoItems(request);
    const { responses } = client;
    const byEndpoint = { model, input };
    const byTrigger = { ...request, stream: false, model, input: [...input, COMPACTION_TRIGGER] };
    let answer = await answerTo(() => responses.compact?.(byEndpoint as never, { signal }));
    const isTriggered = answer === null;
    answer ??= await answerTo(() => responses.create?.(byTrigger as never, { signal }));
    if (answer === null) throw compactionFailed('the provider knows no compaction.');
    // xAI answers with the item alone.
    const output = answer['type'] === 'compaction' ? [answer] : asArray(answer['output']);
    const all = output.map(asRecord);
    const made = all.findLastIndex((item) => item !== undefined && isCompactionPart(item));
    if (made === -1) throw compactionFailed('the provider made no compaction.');
    // The endpoint answers with the items to go on with, whole and in order; a response is that of a model.
    const items = isTriggered ? all.slice(made, made + 1) : all;
    return {
      items: items.map((data) => ({
        kind: asText(data?.['type']) ?? 'message',
        data,
        tokens: tokensOfCharacters(JSON.stringify(data ?? null).length),
      })),
      keepsReasoning: true,
    };
  };
}

/** What a provider answers; `null` when it, or its client, does not know what it is asked. */
async function answerTo(ask: () => PromiseLike<unknown> | undefined): Promise<JsonRecord | null> {
  try {
    const pending = ask();
    return pending === undefined ? null : (asRecord(await pending) ?? {});
  } catch (thrown) {
    if (UNKNOWN_ENDPOINT.has(asRecord(thrown)?.['status'])) return null;
    throw thrown;
  }
}
