// The fields of messages that compaction uses. They are the same in AI SDK 6 and 7, in a `ModelMessage` and in a message of a model's
// prompt, so no types of the SDK are needed.

import type { JsonRecord } from '../../shared/json.js';

/** A message of the AI SDK: a `ModelMessage`, or one of a language model's prompt. */
export interface SdkMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly SdkPart[];
}

/** A part of a message. Not an interface, because interfaces are not assignable to `JsonRecord`. */
export type SdkPart = Readonly<{ type: string }>;

/** Returns the parts of a message; string content becomes one text part. */
export function partsOf({ content }: SdkMessage): readonly SdkPart[] {
  return typeof content === 'string' ? [textPart(content)] : content;
}

export function textPart(text: string): SdkPart & { readonly text: string } {
  return { type: 'text', text };
}

/**
 * Returns a string field.
 *
 * @param where the place of the object, for errors
 * @throws TypeError if the field is not a string
 */
export function textIn(fields: JsonRecord, key: string, where: string): string {
  const value = fields[key];
  if (typeof value === 'string') return value;
  throw new TypeError(`Expected a string at ${where}.${key}, got ${typeof value}.`);
}
