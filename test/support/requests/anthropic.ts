// Reads a `POST /v1/messages` body as a request whose rules can be checked.

import type { JsonRecord } from '../../../src/shared/json.js';
import { asArray, asRecord, asText } from '../../../src/shared/json.js';
import type {
  ProviderRequest,
  Turn,
  TurnPart,
} from '../../../src/shared/providers/provider-request.js';
import { isNothing, isObject, textParts } from './request-parts.js';

/** One message at a time; consecutive messages of a role are not merged. */
export function readAnthropicRequest(body: JsonRecord): ProviderRequest {
  const thinking = readThinking(asText(asRecord(body['thinking'])?.['type']));
  return {
    turns: asArray(body['messages']).map(readMessage),
    ...(thinking !== undefined && { thinking }),
    definesTools: asArray(body['tools']).length > 0,
    cacheBreakpoints: countOuterBreakpoints(body),
  };
}

/** With adaptive thinking, a turn may start with anything. */
function readThinking(type: string | undefined): boolean | undefined {
  return type === 'adaptive' ? undefined : type === 'enabled';
}

function countOuterBreakpoints(body: JsonRecord): number {
  const nested = asArray(body['messages']).flatMap((message) =>
    asArray(asRecord(message)?.['content']).flatMap((block) =>
      asArray(asRecord(block)?.['content']),
    ),
  );
  const places = [body, ...asArray(body['system']), ...asArray(body['tools']), ...nested];
  return places.filter(hasCacheControl).length;
}

function hasCacheControl(value: unknown): boolean {
  return isObject(value) && isObject(value['cache_control']);
}

function readMessage(value: unknown): Turn {
  const { role, content } = asRecord(value) ?? {};
  const parts = typeof content === 'string' ? textParts(content) : asArray(content).map(readBlock);
  return { role: role === 'assistant' ? 'assistant' : 'user', parts };
}

function readBlock(value: unknown): TurnPart {
  const block = asRecord(value) ?? {};
  // Cache marks move from request to request, and are not part of what reasoning is bound to.
  const { cache_control: _, ...content } = block;
  const base = { content, ...(hasCacheControl(value) && { hasCacheControl: true }) };
  switch (block['type']) {
    case 'text': {
      const text = asText(block['text']) ?? '';
      // A string is equivalent to a single text block.
      const isBare = Object.keys(content).length === 2;
      return { kind: 'text', text, ...base, ...(isBare && { content: text }) };
    }
    case 'tool_use':
      return {
        kind: 'call',
        id: asText(block['id']) ?? '',
        name: asText(block['name']) ?? '',
        hasObjectArguments: isObject(block['input']),
        isSigned: false,
        ...base,
      };
    case 'tool_result':
      return {
        kind: 'result',
        callId: asText(block['tool_use_id']) ?? '',
        isError: block['is_error'] === true,
        isEmpty: isNothing(block['content']),
        ...base,
      };
    case 'thinking':
      return { kind: 'reasoning', isSigned: isFilled(block['signature']), ...base };
    case 'redacted_thinking':
      return { kind: 'reasoning', isSigned: isFilled(block['data']), ...base };
    case 'image':
    case 'document':
    case 'search_result':
      return { kind: 'media', ...base };
    default:
      // Calls of server-side tools and their results, such as `server_tool_use`.
      return { kind: 'opaque', ...base };
  }
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
