// What is looked at in a message of LangChain. Classes of several versions may meet in one list, so a
// message is known by what it says of itself; nothing of LangChain is imported to run.

import type { JsonRecord } from '../../main/formats/json-value.js';
import type { BaseMessage } from '@langchain/core/messages';

/** A call as `tool_calls` lists it. */
export interface ListedCall {
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: unknown;
}

/** The fields that a message may have, besides those of every message. */
interface OptionalFields {
  readonly tool_calls?: readonly ListedCall[];
  readonly invalid_tool_calls?: readonly unknown[];
  readonly tool_call_chunks?: readonly unknown[];
  readonly tool_call_id?: string;
  readonly status?: string;
  readonly role?: string;
  readonly usage_metadata?: { readonly input_tokens?: number };
}

/** What kind of message it is: `human`, `ai`, `tool`, `system`, `generic`, `remove` and others. */
export function typeOf(message: BaseMessage): string {
  // Before 1.0 there was only the older name.
  const { getType, _getType } = message as Partial<Record<'getType' | '_getType', () => string>>;
  return (getType ?? _getType)?.call(message) ?? '';
}

/** The same message, with the fields that only some kinds have. */
export function optionalFields(message: BaseMessage): OptionalFields {
  return message as OptionalFields;
}

/** A field that holds a text, or `undefined`. */
export function textField(fields: JsonRecord, key: string): string | undefined {
  const value = fields[key];
  return typeof value === 'string' ? value : undefined;
}
