// The message format of LangChain: `BaseMessage` and classes derived from it. Edited messages keep their classes.

import type { BaseMessage, MessageContent } from '@langchain/core/messages';
import { asArray, asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { IContent } from '../../shared/content.js';
import { cacheMarksOf, isSameButForCacheMarks } from '../format/cache-marks.js';
import { citationsInContent } from '../format/citations.js';
import type { MessageFormat, PartEdits } from '../format/message-format.js';
import { editedContent } from '../format/part-edits.js';
import { joinTexts } from '../format/placed.js';
import { reasoningOfHosted } from '../request/claude-reasoning.js';
import { BaseMessageReader } from './base-message-reader.js';
import { copyWith, makeMessage } from './message-class.js';
import { fieldsOf, typeOf } from './message-fields.js';
import { LANGCHAIN_PROVIDER_MESSAGES } from './provider-compaction.js';
import { aiMessageParts, callIdOf, remainingSignatures } from './ai-message-parts.js';

/** The format of the messages that chat models of LangChain accept. */
export const baseMessageFormat: MessageFormat<BaseMessage> = {
  sdk: 'langchain',
  createReader: () => new BaseMessageReader(),
  isSame,
  rewrite,
  isInstruction,
  reasoningOf: reasoningOfHosted,
  mayNotOpen: (message) => typeOf(message) === 'ai',
  write,
  citations: citationsInContent((message, content) => copyWith(message, { content })),
  provider: LANGCHAIN_PROVIDER_MESSAGES,
};

/** LangChain uses `SystemMessage` for developer messages, too. */
function isInstruction(message: BaseMessage): boolean {
  try {
    return typeOf(message) === 'system';
  } catch {
    return false;
  }
}

/** Compares only what is sent to models: applications rebuild messages, and an agent gives new ids to those without one. */
function isSame(a: BaseMessage, b: BaseMessage): boolean {
  try {
    if (typeOf(a) !== typeOf(b)) return false;
    return isSameButForCacheMarks(sentFields(a), sentFields(b));
  } catch {
    // The message is invalid. The reader rejects it.
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
  return copyWith(message, { content: withEdits(content, edits) });
}

/** Replaces the blocks of a result by one text block, which keeps their cache marks and, for the Responses API, its block type. */
function withResult(content: BaseMessage['content'], text: string): BaseMessage['content'] {
  if (!Array.isArray(content)) return text;
  const items: readonly unknown[] = content;
  const isInput = /^input_/.test(asText(asRecord(items[0])?.['type']) ?? '');
  return [{ ...cacheMarksOf(items), type: isInput ? 'input_text' : 'text', text }];
}

function write({ speaker, blocks }: IContent, among: readonly BaseMessage[]): BaseMessage {
  return makeMessage(speaker === 'ai' ? 'AIMessage' : 'HumanMessage', joinTexts(blocks), among);
}

/**
 * Returns a message of the model with edited parts. A call may be listed in five places of a message. It is removed from all of them,
 * because integrations differ in which one they send.
 */
function rewriteAiMessage(message: BaseMessage, edits: PartEdits): BaseMessage {
  const parts = aiMessageParts(fieldsOf(message));
  const remains = (part: number): boolean => edits.get(part) !== null;
  const changes: Record<string, unknown> = {};

  const ofContent = parts.partOfContent.flatMap((part, at) => {
    const edit = edits.get(part);
    return edit === undefined ? [] : [[at, edit] as const];
  });
  if (ofContent.length > 0) changes['content'] = withEdits(message.content, new Map(ofContent));
  const calls = parts.calls.filter((_, at) => remains(parts.firstCall + at));
  if (calls.length < parts.calls.length) {
    changes['tool_calls'] = calls;
    Object.assign(changes, withoutCalls(message, removedIds(parts.calls, calls)));
  }
  return copyWith(message, changes);
}

/** Returns the ids that calls have before the edit and that no call has after it. */
function removedIds(before: readonly unknown[], after: readonly unknown[]): ReadonlySet<string> {
  const ids = new Set(idsOf(before));
  for (const id of idsOf(after)) ids.delete(id);
  return ids;
}

function idsOf(calls: readonly unknown[]): readonly string[] {
  return calls.flatMap((call) => asText(asRecord(call)?.['id']) ?? []);
}

/** Returns the other fields that list calls, without the removed ones: chunks of a stream, and the provider's own data. */
function withoutCalls(message: BaseMessage, ids: ReadonlySet<string>): JsonRecord {
  const fields = fieldsOf(message);
  const chunks = fields.tool_call_chunks;
  const extra = asRecord(fields.additional_kwargs) ?? {};
  const { tool_calls: raw, signatures } = extra;
  const metadata = asRecord(fields.response_metadata) ?? {};
  const output = metadata['output'];
  return {
    ...(Array.isArray(chunks) && { tool_call_chunks: withoutChunks(chunks, ids) }),
    ...((Array.isArray(raw) || Array.isArray(signatures)) && {
      additional_kwargs: {
        ...(Array.isArray(raw) ? withoutRaw(extra, raw, ids) : extra),
        ...(Array.isArray(signatures) && {
          signatures: remainingSignatures(signatures, asArray(fields.tool_calls), (call) =>
            isCall(call, ids),
          ),
        }),
      },
    }),
    ...(Array.isArray(output) && {
      response_metadata: { ...metadata, output: withoutItems(output, ids) },
    }),
  };
}

function isCall(value: unknown, ids: ReadonlySet<string>): value is JsonRecord {
  if (!isRecord(value)) return false;
  const id = callIdOf(value);
  return id !== undefined && ids.has(id);
}

/** Only the first chunk of a call has the call's id; further chunks have the same index. */
function withoutChunks(chunks: readonly unknown[], ids: ReadonlySet<string>): readonly unknown[] {
  const indices = new Set(chunks.flatMap((chunk) => (isCall(chunk, ids) ? [chunk['index']] : [])));
  indices.delete(undefined);
  return chunks.filter(
    (chunk) => !isCall(chunk, ids) && !(isRecord(chunk) && indices.has(chunk['index'])),
  );
}

/** Removes the list if it becomes empty: an empty list would be sent instead of the message's `tool_calls`, and rejected. */
function withoutRaw(
  extra: JsonRecord,
  raw: readonly unknown[],
  ids: ReadonlySet<string>,
): JsonRecord {
  const { tool_calls: _, ...rest } = extra;
  const remaining = raw.filter((call) => !isCall(call, ids));
  return remaining.length === 0 ? rest : { ...rest, tool_calls: remaining };
}

/** Removes calls from items of the Responses API, with the reasoning that led to them. */
function withoutItems(items: readonly unknown[], ids: ReadonlySet<string>): readonly unknown[] {
  const remaining: unknown[] = [];
  for (const item of items) {
    if (!isCall(item, ids)) remaining.push(item);
    else while (isReasoning(remaining.at(-1))) remaining.pop();
  }
  return remaining;
}

function isReasoning(item: unknown): boolean {
  return isRecord(item) && item['type'] === 'reasoning';
}

/** Returns content with edits applied, as a string or a list like before. */
function withEdits(content: MessageContent, edits: PartEdits): MessageContent {
  const empty = Array.isArray(content) ? [] : '';
  return (editedContent(content, edits) ?? empty) as MessageContent;
}
