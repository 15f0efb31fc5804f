// Fields of LangChain messages. One list may have classes of several versions of LangChain, so messages are recognized by `getType`
// instead of by class. Nothing of LangChain is imported at run time.

import type { BaseMessage } from '@langchain/core/messages';
import { asRecord } from '../../shared/json.js';

/** The fields of a message that are used. Stored and hand-made messages may lack them, or have null or other types there. */
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

/** Returns the type of a message: `human`, `ai`, `tool`, `system`, `generic`, `remove` and others; empty if it has none. */
export function typeOf(message: BaseMessage): string {
  // Versions before 1.0 have `_getType` only.
  const { getType, _getType } = message as Partial<Record<'getType' | '_getType', unknown>>;
  const method = getType ?? _getType;
  const type: unknown = typeof method === 'function' ? method.call(message) : undefined;
  return typeof type === 'string' ? type : '';
}

/** Returns the message itself with unchecked fields. */
export function fieldsOf(message: BaseMessage): MessageFields {
  return message;
}

/** Whether a message of a tool has the screenshot that OpenAI's computer tool asked for. */
export function isScreenshot({ additional_kwargs: extra }: MessageFields): boolean {
  return asRecord(extra)?.['type'] === 'computer_call_output';
}

/** Returns content as a list of blocks. */
export function contentList(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content as readonly unknown[];
  return content === '' || content === undefined || content === null ? [] : [content];
}
