// The adapter for LangChain as a function: messages in, messages out.

import type { BaseMessage } from '@langchain/core/messages';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import { createMessageCompactor } from '../message-compactor.js';
import type { MessageCompactor } from '../message-compactor.js';
import { baseMessageFormat } from './base-message-format.js';

/**
 * Makes a function that makes messages ready to be sent, for loops of your own and for nodes of a graph:
 *
 * ```ts
 * const compact = messageCompactor(compactor);
 * const reply = await model.invoke(await compact(messages));
 * ```
 *
 * Messages must be objects of LangChain's classes. With Claude, pass `reasoning: 'strip-after-first-edit'`
 * if it thinks: it refuses reasoning behind an edit.
 *
 * @throws RangeError naming each option that is wrong.
 */
export function messageCompactor(
  compactor: Compactor,
  options?: AdapterOptions,
): MessageCompactor<BaseMessage> {
  return createMessageCompactor(compactor, baseMessageFormat, options);
}
