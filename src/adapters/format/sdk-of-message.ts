// Recognizes by their tool calls whose messages are given, so that a caller who has picked another SDK's compactor can be told. Knows
// SDKs only by the fields of their calls and results: whoever compacts messages reads them with the reader of a format.

import { asArray, asRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';

/** By SDK, what its messages are called, and what compacts them. */
const SDKS = {
  anthropic: { messages: "Anthropic's Messages API", compactor: 'ctxfold/anthropic' },
  chat: { messages: 'Chat Completions', compactor: 'chatCompactor of ctxfold/openai' },
  responses: { messages: 'the Responses API', compactor: 'inputCompactor of ctxfold/openai' },
  agents: {
    messages: "OpenAI's Agents SDK",
    compactor: 'callModelInputFilter of ctxfold/openai',
  },
  ai: { messages: 'the AI SDK', compactor: 'ctxfold/ai-sdk' },
  ui: {
    messages: "the AI SDK's user interfaces",
    compactor: 'ctxfold/ai-sdk after convertToModelMessages',
  },
  google: { messages: 'Google GenAI', compactor: 'ctxfold/google' },
  langchain: { messages: 'LangChain', compactor: 'ctxfold/langchain' },
} as const;

export type Sdk = keyof typeof SDKS;

/** Describes messages of an SDK that were given to the compactor of another one, and which compactor is for them. */
export function describeOther(sdk: Sdk, own: Sdk): string {
  const { messages, compactor } = SDKS[sdk];
  return `these are messages of ${messages}, of which nothing is compacted, because this is a compactor for ${SDKS[own].messages}; use ${compactor}`;
}

/**
 * Returns the SDK of a message with tool calls or results, or of one that is an instance of a class; `undefined` for all others, which
 * are alike in several SDKs. Called with any value; never throws.
 */
export function sdkOfMessage(message: unknown): Sdk | undefined {
  try {
    const fields = asRecord(message);
    return fields && sdkOf(fields);
  } catch {
    // What throws when it is read is the reader's to report.
    return undefined;
  }
}

function sdkOf(message: JsonRecord): Sdk | undefined {
  const { role, content, parts, tool_call_id: answered, tool_calls: calls } = message;
  if (typeof (message['getType'] ?? message['_getType']) === 'function') return 'langchain';
  const item = ITEMS.find(({ types, idKey }) => isOneOf(message, types, idKey));
  if (item !== undefined) return item.sdk;
  if (role === 'tool' && typeof answered === 'string') return 'chat';
  if (asRecord(asRecord(asArray(calls)[0])?.['function']) !== undefined) return 'chat';
  return sdkOfParts(asArray(content)) ?? sdkOfParts(asArray(parts));
}

/** By index and only the first of many: a caller's array may have an endless iterator, or 4 billion holes. */
function sdkOfParts(parts: readonly unknown[]): Sdk | undefined {
  for (let at = 0; at < Math.min(parts.length, MAX_PARTS); at += 1) {
    const part = asRecord(parts[at]) ?? {};
    const known = PARTS.find(({ types, idKey }) => isOneOf(part, types, idKey));
    if (known !== undefined) return known.sdk;
    if (asRecord(part['functionCall'] ?? part['functionResponse']) !== undefined) return 'google';
  }
  return undefined;
}

const MAX_PARTS = 1_000;

/** Items or parts of an SDK: the types of its calls and results, and the field with the id of the call. */
interface Known {
  readonly sdk: Sdk;
  readonly types: RegExp;
  readonly idKey: string;
}

const ITEMS: readonly Known[] = [
  { sdk: 'responses', types: /^function_call(?:_output)?$/, idKey: 'call_id' },
  { sdk: 'agents', types: /^function_call(?:_result)?$/, idKey: 'callId' },
];

const PARTS: readonly Known[] = [
  { sdk: 'anthropic', types: /^tool_use$/, idKey: 'id' },
  { sdk: 'anthropic', types: /^tool_result$/, idKey: 'tool_use_id' },
  { sdk: 'ai', types: /^tool-(?:call|result)$/, idKey: 'toolCallId' },
  { sdk: 'ui', types: /^(?:tool-.+|dynamic-tool)$/, idKey: 'toolCallId' },
];

function isOneOf(value: JsonRecord, types: RegExp, idKey: string): boolean {
  const { type, [idKey]: id } = value;
  return typeof type === 'string' && types.test(type) && typeof id === 'string';
}
