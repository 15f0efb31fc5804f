// What AI SDK 6 and 7 have in common in their messages, as far as compaction looks at them. It holds for a
// `ModelMessage` and for a message of the prompt that a model is given, so that no type of either is needed.

import type { JsonRecord } from '../../shared/json.js';

/** A message of the AI SDK: a `ModelMessage`, or one of a language model's prompt. */
export interface SdkMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly SdkPart[];
}

/** A part of a message, told apart by `type`. No interface, for those are no `JsonRecord`. */
export type SdkPart = Readonly<{ type: string }>;

/** The parts of a message; a text that stands for its one part is made one. */
export function partsOf({ content }: SdkMessage): readonly SdkPart[] {
  return typeof content === 'string' ? [textPart(content)] : content;
}

/** Makes a part that is a text. */
export function textPart(text: string): SdkPart & { readonly text: string } {
  return { type: 'text', text };
}

/**
 * Returns the text in a field.
 *
 * @param where the place of the object, for the message
 * @throws TypeError when there is none
 */
export function textIn(fields: JsonRecord, key: string, where: string): string {
  const value = fields[key];
  if (typeof value === 'string') return value;
  throw new TypeError(`Expected a string at ${where}.${key}, got ${typeof value}.`);
}
