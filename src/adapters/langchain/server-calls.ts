// Reads which calls a message of a LangChain model makes and answers.

import { asArray, asRecord, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { CallsInMessage } from '../pinned-calls.js';
import { contentList } from './ai-message-parts.js';
import type { MessageFields } from './message-fields.js';

export function callsIn({ content, tool_calls: listed, ...extra }: MessageFields): CallsInMessage {
  const blocks = contentList(content).filter(isRecord);
  const calls = asArray(listed).filter(isRecord);
  return {
    calls: calls.map(({ id }) => id),
    serverCalls: blocks.filter(isServerCall).map(({ id }) => id),
    answered: blocks.map(({ tool_use_id: id }) => id),
    usesComputer: usesComputer(calls, extra),
    isBound: blocks.some(({ caller }) => isRecord(caller) && caller['type'] !== 'direct'),
  };
}

function isServerCall({ type, id }: JsonRecord): boolean {
  if (typeof type !== 'string' || typeof id !== 'string' || type === 'tool_use') return false;
  return type.endsWith('tool_use');
}

/** A streamed call is known only by the provider's own item. */
function usesComputer(calls: readonly JsonRecord[], fields: MessageFields): boolean {
  const { additional_kwargs: extra, response_metadata: metadata } = fields;
  const outputs = [asRecord(extra)?.['tool_outputs'], asRecord(metadata)?.['output']];
  return (
    calls.some(({ isComputerTool }) => isComputerTool === true) ||
    outputs.flatMap(asArray).some((item) => asRecord(item)?.['type'] === 'computer_call')
  );
}
