// Reads which calls an AI message makes and answers.

import { asArray, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { programsIn } from '../format/pinned-calls.js';
import type { CallsInMessage } from '../format/pinned-calls.js';
import { contentList } from './message-fields.js';
import type { MessageFields } from './message-fields.js';

const CALL_TYPES: ReadonlySet<unknown> = new Set(['tool_use', 'tool_call', 'function_call']);

/** Whether a content block is a call that the application answers. */
export function isCallBlock(block: unknown): block is JsonRecord {
  return isRecord(block) && CALL_TYPES.has(block['type']);
}

/** Returns the id of a call, in whichever place of a message it is listed. */
export function callIdOf(call: JsonRecord): string | undefined {
  return asText(call['call_id']) ?? asText(call['id']);
}

export function callsIn({ content, tool_calls: listed }: MessageFields): CallsInMessage {
  const blocks = contentList(content).filter(isRecord);
  const calls = asArray(listed).filter(isRecord);
  return {
    calls: calls.map(({ id }) => id),
    serverCalls: blocks.filter(isServerCall).map(({ id }) => id),
    answered: blocks.map(({ tool_use_id: id }) => id),
    programs: blocks.filter(isCallBlock).flatMap(({ caller }) => programsIn(caller)),
  };
}

function isServerCall({ type, id }: JsonRecord): boolean {
  if (typeof type !== 'string' || typeof id !== 'string' || type === 'tool_use') return false;
  return type.endsWith('tool_use');
}
