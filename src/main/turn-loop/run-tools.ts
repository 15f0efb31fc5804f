// Executes the calls of one response concurrently, and answers every one of them.

import { toolResponse } from '../../shared/content.js';
import type { ToolCallBlock, ToolResponseBlock } from '../../shared/content.js';
import { asError } from '../../shared/errors.js';
import { abortable } from '../waiting/abortable.js';
import type { ToolHandlers } from './chat-model.js';

/**
 * Runs all calls concurrently and returns their responses in call order. Never rejects: an unknown tool, a handler that throws,
 * a result that is not JSON and an abort become the error of the response, since a call without a response would make the
 * history invalid.
 */
export function runTools(
  calls: readonly ToolCallBlock[],
  handlers: ToolHandlers,
  signal: AbortSignal,
): Promise<readonly ToolResponseBlock[]> {
  const run = async (call: ToolCallBlock): Promise<ToolResponseBlock> => {
    try {
      signal.throwIfAborted();
      const handler = Object.hasOwn(handlers, call.name) ? handlers[call.name] : undefined;
      if (handler === undefined) {
        const known = Object.keys(handlers).join(', ');
        throw new Error(`There is no tool ${JSON.stringify(call.name)}. Use one of: ${known}.`);
      }
      // Wrapped in a promise, so that a synchronous throw is caught as well.
      const running = (async (): Promise<unknown> =>
        handler(call.parameters, { callId: call.id, signal }))();
      return toolResponse(call.id, call.name, asPlainData(await abortable(running, signal)));
    } catch (error) {
      return toolResponse(call.id, call.name, null, messageOf(error));
    }
  };
  return Promise.all(calls.map(run));
}

/** Returns a value as it is after a round trip through JSON; `undefined` becomes `null`. */
function asPlainData(result: unknown): unknown {
  // Most results are texts, and some are long.
  if (typeof result === 'string') return result;
  // The declared type ignores that functions and symbols have no JSON.
  const json = JSON.stringify(result ?? null) as string | undefined;
  return JSON.parse(json ?? 'null');
}

function messageOf(error: unknown): string {
  const { message } = asError(error);
  return message === '' ? 'The tool failed without a message.' : message;
}
