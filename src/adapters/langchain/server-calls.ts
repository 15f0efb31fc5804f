// Finds the messages of LangChain that a provider needs unchanged: those with a call of its own tool whose result is in another message,
// with calls that such a tool makes, with calls of OpenAI's computer, whose results cannot be a text, and with what answers any of them.

import { asArray, asRecord, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { contentList } from './ai-message-parts.js';
import type { MessageFields } from './message-fields.js';

/** The calls of one conversation. */
export class ServerCalls {
  /** Calls in pinned messages: messages that answer them are pinned, too. */
  readonly #pinned = new Set<unknown>();

  /** Whether a message of the model must be sent unchanged. To be called once for each of them, in order. */
  pins({ content, tool_calls: listed, ...extra }: MessageFields): boolean {
    const blocks = contentList(content).filter(isRecord);
    const calls = asArray(listed).filter(isRecord);
    const answered = new Set(blocks.map(({ tool_use_id: id }) => id));
    const made = new Set([...calls, ...blocks.filter(isServerCall)].map(({ id }) => id));
    const isPinned =
      usesComputer(calls, extra) ||
      blocks.some((block) => {
        const { id, tool_use_id: callId } = block;
        if (isServerCall(block)) return !answered.has(id);
        return isCalledByTool(block) || (!made.has(callId) && this.#pinned.has(callId));
      });
    for (const id of made) {
      if (isPinned) this.#pinned.add(id);
      else this.#pinned.delete(id);
    }
    return isPinned;
  }

  /** Whether a call is in a pinned message, so that its answer must be sent unchanged. */
  has(callId: unknown): boolean {
    return this.#pinned.has(callId);
  }
}

function isServerCall({ type, id }: JsonRecord): boolean {
  if (typeof type !== 'string' || typeof id !== 'string' || type === 'tool_use') return false;
  return type.endsWith('tool_use');
}

function isCalledByTool({ caller }: JsonRecord): boolean {
  return isRecord(caller) && caller['type'] !== 'direct';
}

/**
 * The ids of the calls of a message that uses OpenAI's computer and has no other call that pins it; `undefined` for any other
 * message.
 */
export function callsWithComputer(message: MessageFields): readonly unknown[] | undefined {
  const { content, tool_calls: listed, ...extra } = message;
  const calls = asArray(listed).filter(isRecord);
  const blocks = contentList(content).filter(isRecord);
  const isOther = blocks.some((block) => isServerCall(block) || isCalledByTool(block));
  if (calls.length === 0 || isOther || !usesComputer(calls, extra)) return undefined;
  return calls.map(({ id }) => id);
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
