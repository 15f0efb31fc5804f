// The adapter for agents of LangChain: a middleware that changes what the model is sent, and nothing of
// what the agent keeps.

import type { BaseMessage } from '@langchain/core/messages';
import type { AgentMiddleware } from 'langchain';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions, CompactCall } from '../adapter-options.js';
import { asRecord } from '../../shared/json.js';
import { checkedFields, checkedMessages, reportedUsage } from '../call-arguments.js';
import { messageCompactor } from './message-compactor.js';
import { fieldsOf, typeOf } from './message-fields.js';
import { modelFacts } from './model-facts.js';
import { compactionByModel } from './provider-compaction.js';

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
      // Whoever calls a middleware by hand may leave out what the agent has.
      const {
        messages: list,
        model,
        runtime,
      } = checkedFields<Partial<typeof request>>(request, 'a model call');
      const given = checkedMessages(list ?? null);
      const messages = await compact(given, {
        signal: runtime?.signal,
        ...latestUsage(given),
        ...modelFacts(model),
        compactByProvider: compactionByModel(request),
      });
      try {
        return await handler({ ...request, messages });
      } catch (thrown) {
        compactor.reportRefusal(thrown, modelFacts(model).modelName);
        throw thrown;
      }
    },
  };
}

/** What the model said its latest request took. What cannot be read is refused when it is compacted. */
function latestUsage(messages: readonly BaseMessage[]): CompactCall {
  try {
    const latest = messages.findLast((message) => typeOf(message) === 'ai');
    if (latest === undefined) return {};
    const usage = asRecord(fieldsOf(latest).usage_metadata);
    const details = asRecord(usage?.['input_token_details']);
    return reportedUsage(
      usage?.['input_tokens'],
      details?.['cache_read'],
      details?.['cache_creation'],
    );
  } catch {
    return {};
  }
}
