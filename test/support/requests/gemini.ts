// Reads a Gemini `generateContent` body as a request whose rules can be checked.

import type { JsonRecord } from '../../../src/shared/json.js';
import { asArray, asRecord, asText } from '../../../src/shared/json.js';
import type {
  ProviderRequest,
  Turn,
  TurnPart,
} from '../../../src/shared/providers/provider-request.js';
import { isNothing, isObject } from './request-parts.js';

/** Models that require signatures on the calls of the current turn. */
const SIGNING_MODELS = /\/models\/gemini-([3-9]|\d\d)/;

/**
 * Reads contents, but merges consecutive ones of the model into one turn, because the SDK's chat keeps streamed answers so.
 * Generates missing call ids.
 *
 * @param path of the request, which names the model
 */
export function readGeminiRequest(body: JsonRecord, path: string): ProviderRequest {
  const turns: Turn[] = [];
  asArray(body['contents']).forEach((value, index) => {
    const turn = readContent(asRecord(value) ?? {}, index);
    const last = turns.at(-1);
    const isOneTurn = last?.role === 'assistant' && turn.role === 'assistant';
    // A content without parts is refused wherever it stands.
    if (isOneTurn && last.parts.length > 0 && turn.parts.length > 0) {
      turns[turns.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    } else {
      turns.push(turn);
    }
  });
  return {
    turns,
    definesTools: asArray(body['tools']).length > 0,
    requiresThoughtSignatures: SIGNING_MODELS.test(path),
  };
}

function readContent(content: JsonRecord, index: number): Turn {
  return {
    role: content['role'] === 'model' ? 'assistant' : 'user',
    parts: asArray(content['parts']).map((part, at) => readPart(part, `${index}.${at}`)),
  };
}

function readPart(value: unknown, place: string): TurnPart {
  const part = asRecord(value) ?? {};
  const isSigned = typeof part['thoughtSignature'] === 'string';
  const call = asRecord(part['functionCall']);
  const result = asRecord(part['functionResponse']);
  const text = asText(part['text']);
  if (call !== undefined) {
    const args = call['args'];
    return {
      kind: 'call',
      id: asText(call['id']) ?? place,
      name: asText(call['name']) ?? '',
      hasObjectArguments: args === undefined || isObject(args),
      isSigned,
      content: value,
    };
  }
  if (result !== undefined) {
    return {
      kind: 'result',
      callId: asText(result['id']) ?? place,
      isError: asRecord(result['response'])?.['error'] !== undefined,
      isEmpty: isNothing(result['response']),
      content: value,
    };
  }
  if (part['thought'] === true) return { kind: 'reasoning', isSigned, content: value };
  if (text !== undefined) return { kind: 'text', text, content: value };
  const isMedia = 'inlineData' in part || 'fileData' in part;
  return { kind: isMedia ? 'media' : 'opaque', content: value };
}
