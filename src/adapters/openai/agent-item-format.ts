// The format of OpenAI's Agents SDK: items as runs hold them, which say the same as those of the Responses
// API in other words. Names no type of that SDK, so that nobody needs it who has none.

import { asRecord, asText, withoutUndefined } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { MessageFormat } from '../message-format.js';
import { ITEM_PROVIDER_MESSAGES } from '../provider-compaction.js';
import { createItemFormat, thoughtOf } from './item-format.js';

/**
 * Items of the Agents SDK (`AgentInputItem`), by the rules of `responseItemFormat`. Tools of the provider
 * and items that the SDK does not know are judged by the item of the Responses API that they stand for.
 */
export const agentItemFormat: MessageFormat<object> = createItemFormat({
  callIdKey: 'callId',
  readReasoning: (item) => {
    const providerData = asRecord(item['providerData']);
    return {
      type: 'thinking',
      thought: thoughtOf(item['content'], item['rawContent']),
      sourceField: 'reasoning',
      ...withoutUndefined({
        signature: asText(item['id']),
        encryptedContent:
          asText(providerData?.['encryptedContent']) ?? asText(providerData?.['encrypted_content']),
      }),
    };
  },
  standsFor,
  provider: ITEM_PROVIDER_MESSAGES,
  write: (role, text) =>
    role === 'user'
      ? { type: 'message', role, content: text }
      : { type: 'message', role, status: 'completed', content: [{ type: 'output_text', text }] },
});

/** The SDK keeps what a tool of the provider, or an item that it does not know, is in the Responses API. */
function standsFor(item: JsonRecord): JsonRecord {
  const { type, name } = item;
  if (type !== 'hosted_tool_call' && type !== 'unknown') return item;
  const providerData = asRecord(item['providerData']);
  return { ...providerData, type: asText(providerData?.['type']) ?? asText(name) ?? type };
}
