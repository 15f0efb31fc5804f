// Reads a `POST /v1/chat/completions` body as a request whose rules can be checked.

import type { JsonRecord } from '../../../src/shared/json.js';
import { asArray, asRecord, asText } from '../../../src/shared/json.js';
import type {
  ProviderRequest,
  Turn,
  TurnPart,
} from '../../../src/shared/providers/provider-request.js';
import { isNothing, isObjectText, textParts } from './request-parts.js';

/** One message at a time. System messages count as the user's, because no rule distinguishes them. */
export function readChatRequest(body: JsonRecord): ProviderRequest {
  return {
    turns: asArray(body['messages']).map((message) => readMessage(asRecord(message) ?? {})),
    definesTools: asArray(body['tools']).length > 0,
  };
}

function readMessage(message: JsonRecord): Turn {
  const content = message['content'];
  switch (message['role']) {
    case 'tool':
    case 'function':
      return {
        role: 'tool',
        parts: [
          {
            kind: 'result',
            callId: asText(message['tool_call_id']) ?? '',
            isError: false,
            isEmpty: isNothing(content),
            content: message,
          },
        ],
      };
    case 'assistant':
      return {
        role: 'assistant',
        parts: [
          ...readContent(content),
          ...textParts(asText(message['refusal']) ?? ''),
          ...OPAQUE_FIELDS.filter((field) => asRecord(message[field]) !== undefined).map(
            (field): TurnPart => ({ kind: 'opaque', content: message[field] }),
          ),
          ...asArray(message['tool_calls']).map(readCall),
        ],
      };
    default:
      return { role: 'user', parts: readContent(content) };
  }
}

/** Alternatives to content in an assistant message. */
const OPAQUE_FIELDS = ['audio', 'function_call'];

function readContent(content: unknown): readonly TurnPart[] {
  if (typeof content === 'string') return textParts(content);
  return asArray(content).map((value): TurnPart => {
    const part = asRecord(value) ?? {};
    const text = asText(part['text']) ?? asText(part['refusal']);
    if (text !== undefined) return { kind: 'text', text, content: value };
    return { kind: 'media', content: value };
  });
}

function readCall(value: unknown): TurnPart {
  const call = asRecord(value) ?? {};
  const custom = asRecord(call['custom']);
  const called = custom ?? asRecord(call['function']) ?? {};
  return {
    kind: 'call',
    id: asText(call['id']) ?? '',
    name: asText(called['name']) ?? '',
    // A custom tool accepts any text.
    hasObjectArguments: custom !== undefined || isObjectText(called['arguments']),
    isSigned: false,
    content: value,
  };
}
