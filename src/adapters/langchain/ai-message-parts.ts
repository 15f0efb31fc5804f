// The parts of an AI message and their numbers: blocks of its content, then its calls, then calls that could
// not be parsed. A call may stand among the blocks as well and is one part all the same.

import { asArray, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { textField } from './message-fields.js';
import type { MessageFields } from './message-fields.js';

/** A message of the model, part by part. */
export interface AiMessageParts {
  /** Its content as a list; a string is one part, and no content none. */
  readonly content: readonly unknown[];
  readonly calls: readonly unknown[];
  readonly invalidCalls: readonly unknown[];
  /** The number of the part that each block of the content belongs to. */
  readonly partOfContent: readonly number[];
  /** The number of the first call's part. */
  readonly firstCall: number;
  /** The number of the first part of a call that could not be parsed. */
  readonly firstInvalidCall: number;
}

const CALL_TYPES: ReadonlySet<unknown> = new Set(['tool_use', 'tool_call', 'function_call']);

/** Numbers the parts of a message of the model. */
export function aiMessageParts(message: MessageFields): AiMessageParts {
  const content = contentList(message.content);
  const calls = asArray(message.tool_calls);
  const invalidCalls = asArray(message.invalid_tool_calls);
  const firstCall = content.length;
  const firstInvalidCall = firstCall + calls.length;
  const free: unknown[] = [...calls, ...invalidCalls];
  const partOfContent = content.map((block, at) => {
    if (!isCallBlock(block)) return at;
    const listed = free.findIndex((call) => isRecord(call) && isSameCall(block, call));
    if (listed === -1) return at;
    free[listed] = undefined;
    return firstCall + listed;
  });
  content.forEach((block, at) => {
    const owner = ownerOfArguments(block, content);
    if (owner !== -1) partOfContent[at] = partOfContent[owner] ?? owner;
  });
  return { content, calls, invalidCalls, partOfContent, firstCall, firstInvalidCall };
}

/** Content as a list of blocks. */
export function contentList(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content as readonly unknown[];
  return content === '' || content === undefined || content === null ? [] : [content];
}

/** Whether a block of content is a call that the application answers. */
export function isCallBlock(block: unknown): block is JsonRecord {
  return isRecord(block) && CALL_TYPES.has(block['type']);
}

/** The id of a call, wherever it is listed. */
export function callIdOf(call: JsonRecord): string | undefined {
  return textField(call, 'call_id') ?? textField(call, 'id');
}

function isSameCall(block: JsonRecord, call: JsonRecord): boolean {
  const id = callIdOf(block);
  return id === callIdOf(call) && (id !== undefined || block['name'] === call['name']);
}

/** Streams of Anthropic leave the arguments of a call behind it, in blocks of the same index. */
function ownerOfArguments(block: unknown, content: readonly unknown[]): number {
  if (!isRecord(block) || block['type'] !== 'input_json_delta') return -1;
  return content.findIndex((other) => isCallBlock(other) && other['index'] === block['index']);
}
