// The function form of the adapter: messages in, messages out.

import type { BaseMessage } from '@langchain/core/messages';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { createMessageCompactor } from '../conversation/message-compactor.js';
import type { MessageCompactor } from '../conversation/message-compactor.js';
import { baseMessageFormat } from './base-message-format.js';

/**
 * Creates a function that compacts messages, for loops of your own and for nodes of a graph:
 *
 * ```ts
 * const compact = messageCompactor(compactor);
 * const reply = await model.invoke(await compact(messages));
 * ```
 *
 * Messages must be instances of LangChain's classes. With Claude, pass `modelName` in each call, or
 * `reasoning: 'strip-after-first-edit'`, because Claude rejects reasoning after an edit.
 *
 * @throws RangeError naming each invalid option.
 */
export function messageCompactor(
  compactor: Compactor,
  options?: AdapterOptions,
): MessageCompactor<BaseMessage> {
  return createMessageCompactor(compactor, baseMessageFormat, options);
}
