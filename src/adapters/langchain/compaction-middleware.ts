// The adapters for LangChain's agents: a middleware that changes what is sent but not the agent's state, and an edit for LangChain's
// own context editing, which changes both.

import type { BaseMessage } from '@langchain/core/messages';
import type { AgentMiddleware, ContextEdit } from 'langchain';
import type { Compactor } from '../../main/compactor.js';
import { loggerOf } from '../request/adapter-options.js';
import type { AdapterOptions, CompactCall } from '../request/adapter-options.js';
import { asRecord } from '../../shared/json.js';
import { warnIfServerHeld } from '../conversation/warn-of-failure.js';
import { checkedFields, checkedMessages, reportedUsage } from '../request/call-arguments.js';
import { hasServerCalls } from '../request/provider-usage.js';
import { overheadOf } from '../request/request-overhead.js';
import { isSameList } from '../format/same-value.js';
import { isFixableByCompacting } from '../../main/models/model-limits.js';
import { messageCompactor } from './message-compactor.js';
import { fieldsOf, typeOf } from './message-fields.js';
import { modelFacts } from './model-facts.js';
import { compactionByModel } from './provider-compaction.js';

/**
 * Creates a middleware for `createAgent` that compacts the messages of each model call:
 *
 * ```ts
 * createAgent({ model, tools, middleware: [compactionMiddleware(compactor)] });
 * ```
 *
 * The agent's state, and what a checkpointer stores of it, keep every message. Put this middleware after any that adds messages, so
 * that it sees what is sent.
 *
 * @throws RangeError naming each invalid option.
 */
export function compactionMiddleware(
  compactor: Compactor,
  options?: AdapterOptions,
): AgentMiddleware {
  const compact = messageCompactor(compactor, options);
  const logger = loggerOf(compactor, options);
  return {
    // The brand that `createMiddleware` sets. Calling that function would require an import of LangChain at run time.
    [Symbol.for('AgentMiddleware')]: true,
    name: 'CtxfoldCompaction',
    wrapModelCall: async (request, handler) => {
      // `Partial`, because a caller other than the agent may omit fields.
      const {
        messages: list,
        model,
        runtime,
        systemMessage,
        tools,
        modelSettings,
      } = checkedFields<Partial<typeof request>>(request, 'a model call');
      const given = checkedMessages(list, 'an array of messages as `messages` of a model call');
      const { configurable } = asRecord(runtime) ?? {};
      const { defaultOptions, modelKwargs } = asRecord(model) ?? {};
      if (warnIfServerHeld(logger, modelSettings, defaultOptions, modelKwargs))
        return handler(request);
      const facts = modelFacts(model, { modelSettings, configurable });
      const compacted = (refusal?: unknown): Promise<BaseMessage[]> =>
        compact(given, {
          signal: runtime?.signal,
          overheadTokens: overheadOf(systemMessage?.content, tools),
          ...latestUsage(given),
          ...facts,
          refusal,
          compactByProvider: compactionByModel(request),
        });
      const messages = await compacted();
      try {
        return await handler({ ...request, messages });
      } catch (thrown) {
        if (!isFixableByCompacting(thrown)) throw thrown;
        const again = await compacted(thrown);
        if (isSameList(again, messages)) throw thrown;
        return handler({ ...request, messages: again });
      }
    },
  };
}

/**
 * Creates an edit for `contextEditingMiddleware`:
 *
 * ```ts
 * contextEditingMiddleware({ edits: [contextEdit(compactor)] });
 * ```
 *
 * LangChain passes the list in the agent's state to edits, which modify the list. So what this edit removes, also from arguments of
 * calls, is removed from the state and from what a checkpointer stores, too, as with LangChain's own edits. Message objects are never
 * changed. `compactionMiddleware` does not change the state and can be aborted; an edit cannot be.
 *
 * @throws RangeError naming each invalid option.
 */
export function contextEdit(compactor: Compactor, options?: AdapterOptions): ContextEdit {
  const compact = messageCompactor(compactor, options);
  return {
    apply: async (given): Promise<void> => {
      const { messages, model } = checkedFields(given, 'what an edit is asked about');
      const compacted = await compact(checkedMessages(messages), {
        ...latestUsage(messages),
        ...modelFacts(model),
      });
      messages.length = 0;
      for (const message of compacted) messages.push(message);
    },
  };
}

/** Returns the usage that the model reported for the latest request; `{}` if messages are unreadable, which the compaction rejects. */
function latestUsage(messages: readonly BaseMessage[]): CompactCall {
  try {
    const latest = messages.findLast((message) => typeOf(message) === 'ai');
    if (latest === undefined) return {};
    const { content, additional_kwargs: extra, usage_metadata } = fieldsOf(latest);
    if ([content, asRecord(extra)?.['tool_outputs']].some(hasServerCalls)) return {};
    const usage = asRecord(usage_metadata);
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
