// Compaction by OpenAI's Responses API, and by whoever offers the same endpoint: the request, and what comes back.

import { asArray, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';
import type { ProviderMessages } from '../message-format.js';
import { compactionFailed } from '../provider-compaction.js';
import type { CompactMessages } from '../provider-compaction.js';

/** What is asked of a client of the `openai` package; of xAI, one with their base URL. */
export interface CompactingClient {
  readonly responses: {
    compact(body: never, options?: { readonly signal?: AbortSignal }): PromiseLike<unknown>;
  };
}

/** Items go back whole and in order; what the system and developers said stays where it is. */
export const OPENAI_PROVIDER_MESSAGES: ProviderMessages<object> = {
  takesPinned: true,
  divides: () => true,
  write: (item) => item as object,
};

/**
 * Returns what has the items of a conversation compacted by `/responses/compact`, as `compactByProvider` of a call, for the strategy
 * `provider`. Not for requests with `previous_response_id`, whose items the server holds.
 *
 * @param model the one that the items go to
 */
export function providerCompaction(client: CompactingClient, model: string): CompactMessages {
  return async (input, signal) => {
    let answer: JsonRecord | undefined;
    try {
      answer = asRecord(await client.responses.compact({ model, input } as never, { signal }));
    } catch (thrown) {
      signal.throwIfAborted();
      const { status } = asRecord(thrown) ?? {};
      const said = typeof status === 'number' ? ` with status ${status}` : '';
      // Messages of an SDK may quote what was sent.
      throw compactionFailed(`the provider refused${said}.`);
    }
    // xAI answers with the item alone.
    const output = answer?.['type'] === 'compaction' ? [answer] : asArray(answer?.['output']);
    const items = output.map(asRecord);
    if (!items.some((item) => asText(item?.['type'])?.startsWith('compaction') === true)) {
      throw compactionFailed('the provider made no compaction.');
    }
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
