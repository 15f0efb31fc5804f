// The format of OpenAI's Agents SDK: items with the content of those of the Responses API, and other field names. Imports no types
// of the SDK, so that it need not be installed.

import { asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { thinkingBlock } from '../format/blocks.js';
import { isCacheMark, isSameButForCacheMarks } from '../format/cache-marks.js';
import type { MessageFormat } from '../format/message-format.js';
import { ITEM_PROVIDER_MESSAGES } from '../format/provider-compaction.js';
import { isSameValue } from '../format/same-value.js';
import { createItemFormat, thoughtOf } from './item-format.js';

/**
 * Items of the Agents SDK (`AgentInputItem`), with the rules of `responseItemFormat`. Hosted tools and items that the SDK does
 * not know are treated like the item of the Responses API in their `providerData`.
 */
export const agentItemFormat: MessageFormat<object> = createItemFormat({
  callIdKey: 'callId',
  readReasoning: (item) => {
    const providerData = asRecord(item['providerData']);
    return thinkingBlock(thoughtOf(item['content'], item['rawContent']), {
      sourceField: 'reasoning',
      signature: asText(item['id']),
      encryptedContent:
        asText(providerData?.['encryptedContent']) ?? asText(providerData?.['encrypted_content']),
    });
  },
  originalOf,
  isSame: isSameItem,
  provider: ITEM_PROVIDER_MESSAGES,
  write: (role, text) =>
    role === 'user'
      ? { type: 'message', role, content: text }
      : { type: 'message', role, status: 'completed', content: [{ type: 'output_text', text }] },
});

/** Returns the original item of the Responses API, which the SDK keeps for hosted tools and unknown items. */
function originalOf(item: JsonRecord): JsonRecord {
  const { type, name } = item;
  if (type !== 'hosted_tool_call' && type !== 'unknown') return item;
  const providerData = asRecord(item['providerData']);
  return { ...providerData, type: asText(providerData?.['type']) ?? asText(name) ?? type };
}

/** A session of the SDK stores calls of functions without the ids of their items. */
function isSameItem(a: object, b: object): boolean {
  return isSameButForCacheMarks(a, b) || (isSameValue(a, b, isLeftOut) && isCall(a));
}

function isCall(item: { readonly type?: unknown }): boolean {
  return item.type === 'function_call';
}

function isLeftOut(key: string, value: unknown): boolean {
  return key === 'id' || isCacheMark(key, value);
}
