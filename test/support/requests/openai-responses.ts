// Reads a `POST /v1/responses` body as a request whose rules can be checked.

import type { JsonRecord } from '../../../src/shared/json.js';
import { asArray, asRecord, asText } from '../../../src/shared/json.js';
import type {
  ProviderRequest,
  Turn,
  TurnPart,
} from '../../../src/shared/providers/provider-request.js';
import { isNothing, isObjectText, textParts } from './request-parts.js';

/**
 * One item at a time. If the server stores the start of the conversation, outputs may belong to calls that are not in the
 * body; those become opaque.
 */
export function readResponsesRequest(body: JsonRecord): ProviderRequest {
  const { input } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : asArray(input);
  const turns = items.map((item) => readItem(asRecord(item) ?? {}));
  const isContinued = isGiven(body['previous_response_id']) || isGiven(body['conversation']);
  return {
    turns: isContinued ? turns.map(withoutForeignResult(turns)) : turns,
    definesTools: asArray(body['tools']).length > 0,
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function withoutForeignResult(turns: readonly Turn[]): (turn: Turn) => Turn {
  const parts = turns.flatMap((turn) => turn.parts);
  const called = new Set(parts.map((part) => (part.kind === 'call' ? part.id : undefined)));
  return (turn) => ({
    ...turn,
    parts: turn.parts.map((part) =>
      part.kind === 'result' && !called.has(part.callId)
        ? { kind: 'opaque', content: part.content }
        : part,
    ),
  });
}

function readItem(item: JsonRecord): Turn {
  const type = asText(item['type']) ?? ('role' in item ? 'message' : 'item_reference');
  const id = asText(item['id']);
  const named = id === undefined ? {} : { itemId: id };
  const callId = asText(item['call_id']);
  if (type === 'message') {
    const role = item['role'] === 'assistant' ? 'assistant' : 'user';
    return { role, parts: readContent(item['content']), ...named };
  }
  if (type === 'reasoning') {
    const isSigned = isGiven(item['encrypted_content']);
    return {
      role: 'assistant',
      parts: [{ kind: 'reasoning', isSigned, content: item }],
      ...named,
    };
  }
  if (type.endsWith('_call_output')) {
    const answered = callId ?? id ?? '';
    return { role: 'tool', parts: [resultPart(answered, item)] };
  }
  if (type.endsWith('_call') && callId !== undefined) {
    const isFunction = type === 'function_call';
    // Other kinds of calls have other ids, which no rule is about.
    return { role: 'assistant', parts: [callPart(callId, item)], ...(isFunction && named) };
  }
  const isAnswer = type === 'mcp_approval_response';
  return {
    role: isAnswer ? 'user' : 'assistant',
    parts: [{ kind: 'opaque', content: item }],
    ...named,
  };
}

function callPart(id: string, item: JsonRecord): TurnPart {
  return {
    kind: 'call',
    id,
    name: asText(item['name']) ?? '',
    hasObjectArguments: item['type'] !== 'function_call' || isObjectText(item['arguments']),
    isSigned: false,
    content: item,
  };
}

function resultPart(callId: string, item: JsonRecord): TurnPart {
  return {
    kind: 'result',
    callId,
    isError: false,
    isEmpty: isNothing(item['output']),
    content: item,
  };
}

function readContent(content: unknown): readonly TurnPart[] {
  if (typeof content === 'string') return textParts(content);
  return asArray(content).map((value): TurnPart => {
    const part = asRecord(value) ?? {};
    const text = asText(part['text']) ?? asText(part['refusal']);
    if (text !== undefined) return { kind: 'text', text, content: value };
    return { kind: 'media', content: value };
  });
}
