// The format of OpenAI's Agents SDK: items with the same content as those of the Responses API, but other field names. Imports no
// types of the SDK, so that the SDK need not be installed.

import { thinkingBlock } from '../../shared/content.js';
import { asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { isCacheMark, isSameButForCacheMarks } from '../format/cache-marks.js';
import type { MessageFormat } from '../format/message-format.js';
import { tryPlainData } from '../format/plain-data.js';
import { isSameValue } from '../format/same-value.js';
import { createItemFormat, thoughtOf } from './item-format.js';

/**
 * Items of the Agents SDK (`AgentInputItem`), with the rules of `responseItemFormat`. Hosted tools and items that the SDK does
 * not know are treated like the item of the Responses API in their `providerData`.
 */
export const agentItemFormat: MessageFormat<object> = createItemFormat({
  sdk: 'agents',
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

/**
 * Compares items as sessions of the SDK return them: sessions drop the ids that the model gave, or return other ids.
 * `OpenAIConversationsSession` also rebuilds texts, and loses the names of results.
 */
function isSameItem(a: object, b: object): boolean {
  if (isSameButForCacheMarks(a, b)) return true;
  const [stored, other] = [asStored(a), asStored(b)];
  return stored !== undefined && isSameValue(stored, other, isLeftOut);
}

/** Returns what every session keeps of an item; `undefined` for items that sessions do not change or that cannot be read. */
function asStored(item: object): JsonRecord | undefined {
  const {
    name,
    output,
    content,
    phase: _phase,
    providerData: _data,
    ...rest
  } = asRecord(tryPlainData(item)) ?? {};
  switch (rest['type'] ?? ('role' in rest ? 'message' : undefined)) {
    case 'function_call':
      return { ...rest, name };
    case 'function_call_result':
      return {
        ...rest,
        output: typeof output === 'string' ? { type: 'text', text: output } : output,
      };
    case 'message':
      return { ...rest, type: 'message', content: inParts(content) };
    default:
      return undefined;
  }
}

function inParts(content: unknown): unknown {
  return typeof content === 'string' ? [{ type: 'input_text', text: content }] : content;
}

function isLeftOut(key: string, value: unknown): boolean {
  return key === 'id' || isCacheMark(key, value);
}
