// Request parts that several APIs share.

import type { JsonRecord } from '../../../src/shared/json.js';
import { tryParseJson } from '../../../src/shared/json.js';
import { isBlank } from '../../../src/shared/content.js';
import type { TurnPart } from '../../../src/shared/providers/provider-request.js';

/** A text part; none for the empty text, which often means a message without content. */
export function textParts(text: string, content: unknown = text): readonly TurnPart[] {
  return text === '' ? [] : [{ kind: 'text', text, content }];
}

/** Whether a value is an object but not an array. */
export function isObject(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a text is a JSON object. */
export function isObjectText(text: unknown): boolean {
  return typeof text === 'string' && isObject(tryParseJson(text));
}

/** Whether a tool result is empty: no text, or no part with text. */
export function isNothing(content: unknown): boolean {
  if (content === undefined || content === null) return true;
  if (typeof content === 'string') return isBlank(content);
  return Array.isArray(content) && content.every(isBlankText);
}

function isBlankText(part: unknown): boolean {
  return isObject(part) && typeof part['text'] === 'string' && isBlank(part['text']);
}
