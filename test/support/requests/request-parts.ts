// Parts that several APIs write alike.

import type { JsonRecord } from '../../../src/shared/json.js';
import { tryParseJson } from '../../../src/shared/json.js';
import { isBlank } from '../../../src/shared/content.js';
import type { TurnPart } from '../../../src/shared/providers/provider-request.js';

/** A text part; nothing for the empty text, which is how a message without content is often written. */
export function textParts(text: string, content: unknown = text): readonly TurnPart[] {
  return text === '' ? [] : [{ kind: 'text', text, content }];
}

/** Whether a value is an object that is no array. */
export function isObject(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a JSON text is that of an object. */
export function isObjectText(text: unknown): boolean {
  return typeof text === 'string' && isObject(tryParseJson(text));
}

/** Whether what a tool answered says nothing: no text, or no part with any. */
export function isNothing(content: unknown): boolean {
  if (content === undefined || content === null) return true;
  if (typeof content === 'string') return isBlank(content);
  return Array.isArray(content) && content.every(isBlankText);
}

function isBlankText(part: unknown): boolean {
  return isObject(part) && typeof part['text'] === 'string' && isBlank(part['text']);
}
