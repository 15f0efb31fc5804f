// Writes back what edits left of a message of the model. One call may be told in five places, and leaves
// all of them: providers are sent now this one and now that one.

import { asRecord, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { BaseMessage } from '@langchain/core/messages';
import type { PartEdits } from '../message-format.js';
import { aiMessageParts, callIdOf } from './ai-message-parts.js';
import { editedContent } from './edited-content.js';
import type { PartEdit } from './edited-content.js';
import { copyWith } from './message-class.js';
import { fieldsOf, textField } from './message-fields.js';

/** Returns the message without the parts that are gone, and with the texts that stand in place of others. */
export function rewriteAiMessage(message: BaseMessage, edits: PartEdits): BaseMessage {
  const parts = aiMessageParts(fieldsOf(message));
  const isLeft = (part: number): boolean => edits.get(part) !== null;
  const changes: Record<string, unknown> = {};

  const editOf = (at: number): PartEdit => edits.get(parts.partOfContent[at] ?? at);
  if (parts.content.some((_, at) => editOf(at) !== undefined)) {
    changes['content'] = editedContent(message.content, editOf);
  }
  const calls = parts.calls.filter((_, at) => isLeft(parts.firstCall + at));
  if (calls.length < parts.calls.length) {
    changes['tool_calls'] = calls;
    Object.assign(changes, withoutCalls(message, goneIds(parts.calls, calls)));
  }
  const invalid = parts.invalidCalls.filter((_, at) => isLeft(parts.firstInvalidCall + at));
  if (invalid.length < parts.invalidCalls.length) changes['invalid_tool_calls'] = invalid;
  return copyWith(message, changes);
}

/** Ids that no call has any more. */
function goneIds(before: readonly unknown[], after: readonly unknown[]): ReadonlySet<string> {
  const ids = new Set(idsOf(before));
  for (const id of idsOf(after)) ids.delete(id);
  return ids;
}

function idsOf(calls: readonly unknown[]): readonly string[] {
  return calls.flatMap((call) => textField(asRecord(call) ?? {}, 'id') ?? []);
}

/** The other places where calls are told: pieces of a stream, and what the provider itself said. */
function withoutCalls(message: BaseMessage, ids: ReadonlySet<string>): JsonRecord {
  const fields = fieldsOf(message);
  const chunks = fields.tool_call_chunks;
  const extra = asRecord(fields.additional_kwargs) ?? {};
  const raw = extra['tool_calls'];
  const metadata = asRecord(fields.response_metadata) ?? {};
  const output = metadata['output'];
  return {
    ...(Array.isArray(chunks) && { tool_call_chunks: withoutChunks(chunks, ids) }),
    ...(Array.isArray(raw) && { additional_kwargs: withoutRaw(extra, raw, ids) }),
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

/** Only the first piece of a call has its id; the others have its index. */
function withoutChunks(chunks: readonly unknown[], ids: ReadonlySet<string>): readonly unknown[] {
  const indices = new Set(chunks.flatMap((chunk) => (isCall(chunk, ids) ? [chunk['index']] : [])));
  indices.delete(undefined);
  return chunks.filter(
    (chunk) => !isCall(chunk, ids) && !(isRecord(chunk) && indices.has(chunk['index'])),
  );
}

/** An empty list would be sent in the place of `tool_calls`, and is refused. */
function withoutRaw(
  extra: JsonRecord,
  raw: readonly unknown[],
  ids: ReadonlySet<string>,
): JsonRecord {
  const { tool_calls: _, ...rest } = extra;
  const left = raw.filter((call) => !isCall(call, ids));
  return left.length === 0 ? rest : { ...rest, tool_calls: left };
}

/** Items of the Responses API: reasoning must be followed by what it led to, and goes with it. */
function withoutItems(items: readonly unknown[], ids: ReadonlySet<string>): readonly unknown[] {
  const left: unknown[] = [];
  for (const item of items) {
    if (!isCall(item, ids)) left.push(item);
    else while (isReasoning(left.at(-1))) left.pop();
  }
  return left;
}

function isReasoning(item: unknown): boolean {
  return isRecord(item) && item['type'] === 'reasoning';
}
