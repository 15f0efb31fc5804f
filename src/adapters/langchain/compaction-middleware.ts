// The adapter for agents of LangChain: a middleware that changes what the model is sent, and nothing of
// what the agent keeps.

import type { AgentMiddleware } from 'langchain';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import { messageCompactor } from './message-compactor.js';
import { optionalFields, typeOf } from './message-fields.js';
import { modelFacts } from './model-facts.js';

/**
 * Makes a middleware for `createAgent` that makes the messages of each model call ready to be sent:
 *
 * ```ts
 * createAgent({ model, tools, middleware: [compactionMiddleware(compactor)] });
 * ```
 *
 * The state of the agent, and what a checkpointer stores of it, keep every message. Put it behind
 * middleware that adds messages of its own, so that it sees what is sent.
 *
 * @throws RangeError naming each option that is wrong.
 */
export function compactionMiddleware(
  compactor: Compactor,
  options?: AdapterOptions,
): AgentMiddleware {
  const compact = messageCompactor(compactor, options);
  return {
    // What createMiddleware adds; written out, so that nothing is imported to run.
    [Symbol.for('AgentMiddleware')]: true,
    name: 'CtxfoldCompaction',
    wrapModelCall: async (request, handler) => {
      // The list is that of the state: other middleware may change it later on.
      const messages = await compact([...request.messages], {
        signal: request.runtime.signal,
        reportedInputTokens: reportedInputTokens(request.messages),
        ...modelFacts(request.model),
      });
      return handler({ ...request, messages });
    },
  };
}

/** What the model said its latest request took. */
function reportedInputTokens(
  messages: Parameters<ReturnType<typeof messageCompactor>>[0],
): number | undefined {
  const latest = messages.findLast((message) => typeOf(message) === 'ai');
  return latest === undefined ? undefined : optionalFields(latest).usage_metadata?.input_tokens;
}
