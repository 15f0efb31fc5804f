// The message format of LangChain: `BaseMessage` and classes derived from it. Edited messages have the same classes.

import { isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { BaseMessage } from '@langchain/core/messages';
import type { IContent } from '../../shared/content.js';
import { isSameButForCacheMarks } from '../cache-marks.js';
import type { MessageFormat, PartEdits } from '../message-format.js';
import { joinTexts } from '../placed.js';
import { BaseMessageReader } from './base-message-reader.js';
import { copyWith, makeMessage } from './message-class.js';
import { fieldsOf, typeOf } from './message-fields.js';
import { LANGCHAIN_PROVIDER_MESSAGES } from './provider-compaction.js';
import { editedContent, rewriteAiMessage } from './rewrite-ai-message.js';

/** The format of the messages that chat models of LangChain accept. */
export const baseMessageFormat: MessageFormat<BaseMessage> = {
  createReader: () => new BaseMessageReader(),
  isSame,
  rewrite,
  write,
  provider: LANGCHAIN_PROVIDER_MESSAGES,
};

/** Compares only what models are sent: a checkpointer rebuilds messages, and messages without ids get some. */
function isSame(a: BaseMessage, b: BaseMessage): boolean {
  try {
    if (a.id !== undefined && b.id !== undefined && a.id !== b.id) return false;
    if (typeOf(a) !== typeOf(b)) return false;
    return isSameButForCacheMarks(sentFields(a), sentFields(b));
  } catch {
    // An invalid message, which the reader rejects.
    return false;
  }
}

function sentFields(message: BaseMessage): JsonRecord {
  const { content, name, additional_kwargs: extra } = message;
  const { tool_calls: calls, invalid_tool_calls: invalidCalls } = fieldsOf(message);
  const { tool_call_id: callId, status, role } = fieldsOf(message);
  return { content, name, extra, calls, invalidCalls, callId, status, role };
}

function rewrite(message: BaseMessage, edits: PartEdits): BaseMessage {
  if (typeOf(message) === 'ai') return rewriteAiMessage(message, edits);
  const { content } = message;
  const edit = edits.get(0);
  if (edit?.type === 'tool_response') {
    return copyWith(message, { content: withResult(content, String(edit.result)) });
  }
  return copyWith(message, { content: editedContent(content, (at) => edits.get(at)) });
}

/** Replaces the blocks of a result by one, which keeps a cache mark on any of them. */
function withResult(content: BaseMessage['content'], text: string): BaseMessage['content'] {
  if (!Array.isArray(content)) return text;
  const items: readonly unknown[] = content;
  const marked = items.find((item) => isRecord(item) && item['cache_control'] !== undefined);
  const mark = isRecord(marked) ? { cache_control: marked['cache_control'] } : {};
  return [{ ...mark, type: 'text', text }];
}

function write({ speaker, blocks }: IContent, among: readonly BaseMessage[]): BaseMessage {
  return makeMessage(speaker === 'ai' ? 'AIMessage' : 'HumanMessage', joinTexts(blocks), among);
}
