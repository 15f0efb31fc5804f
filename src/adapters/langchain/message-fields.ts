// What is looked at in a message of LangChain. Classes of several versions may meet in one list, so a
// message is known by what it says of itself; nothing of LangChain is imported to run.

import type { JsonRecord } from '../../shared/json.js';
import type { BaseMessage } from '@langchain/core/messages';

/**
 * What is looked at in a message. Stored and hand-made ones leave fields out or hold null in them, so that anything
 * may stand in each.
 */
export interface MessageFields {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
  readonly invalid_tool_calls?: unknown;
  readonly tool_call_chunks?: unknown;
  readonly tool_call_id?: unknown;
  readonly status?: unknown;
  readonly role?: unknown;
  readonly additional_kwargs?: unknown;
  readonly response_metadata?: unknown;
  readonly usage_metadata?: unknown;
}

/** What kind of message it is: `human`, `ai`, `tool`, `system`, `generic`, `remove` and others. */
export function typeOf(message: BaseMessage): string {
  // Before 1.0 there was only the older name.
  const { getType, _getType } = message as Partial<Record<'getType' | '_getType', unknown>>;
  const ask = getType ?? _getType;
  const type: unknown = typeof ask === 'function' ? ask.call(message) : undefined;
  return typeof type === 'string' ? type : '';
}

/** The same message, of whose fields nothing is known. */
export function fieldsOf(message: BaseMessage): MessageFields {
  return message;
}

/** A field that holds a text, or `undefined`. */
export function textField(fields: JsonRecord, key: string): string | undefined {
  const value = fields[key];
  return typeof value === 'string' ? value : undefined;
}
