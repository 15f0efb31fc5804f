// The adapter for the context editing of LangChain: an edit that changes the list it is given.

import type { ContextEdit } from 'langchain';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import { checkedFields, checkedMessages } from '../call-arguments.js';
import { messageCompactor } from './message-compactor.js';
import { modelFacts } from './model-facts.js';

/**
 * Makes an edit for `contextEditingMiddleware`, to stand among others:
 *
 * ```ts
 * contextEditingMiddleware({ edits: [contextEdit(compactor)] });
 * ```
 *
 * LangChain hands edits the list that the state of the agent holds, and edits change that list. So what
 * this one removes is gone from the state and from what a checkpointer stores, as with LangChain's own
 * edits; messages themselves are never changed. `compactionMiddleware` leaves the state alone, and can be
 * aborted, which an edit cannot.
 *
 * @throws RangeError naming each option that is wrong.
 */
export function contextEdit(compactor: Compactor, options?: AdapterOptions): ContextEdit {
  const compact = messageCompactor(compactor, options);
  return {
    apply: async (given): Promise<void> => {
      const { messages, model } = checkedFields(given, 'what an edit is asked about');
      const compacted = await compact(checkedMessages(messages), modelFacts(model));
      messages.length = 0;
      for (const message of compacted) messages.push(message);
    },
  };
}
