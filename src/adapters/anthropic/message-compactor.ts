// The function form of the adapter: messages of the Messages API in, messages out.

import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions, CompactCall } from '../adapter-options.js';
import { checkedCall, checkedMessages } from '../call-arguments.js';
import { createMessageCompactor } from '../message-compactor.js';
import type { MessageCompactor } from '../message-compactor.js';
import { MESSAGE_PARAM_FORMAT } from './message-param-format.js';
import type { AnthropicMessage } from './message-param-format.js';
import { restoreTurnStart } from './turn-start.js';

/**
 * Returns a function that makes the messages of a conversation ready for `messages.create`. It takes the
 * whole list each time and changes nothing in it; give it your list, and send what it returns. Cache
 * breakpoints may move from call to call.
 *
 * Reasoning is taken out from the first edit on by default, for newer models refuse reasoning when
 * something before it has changed. With `thinking: { type: 'enabled' }`, or `drop_block` for
 * prefix mismatches, say `reasoning: 'keep'`.
 *
 * @throws RangeError naming each option that is wrong.
 */
export function messageCompactor<Message extends AnthropicMessage = MessageParam>(
  compactor: Compactor,
  options: AdapterOptions = {},
): MessageCompactor<Message> {
  const compact = createMessageCompactor<AnthropicMessage>(
    compactor,
    MESSAGE_PARAM_FORMAT,
    options,
    (inner) => async (given, callOptions) => {
      const messages = checkedMessages(given);
      const call = checkedCall(callOptions);
      const reasoning = options.reasoning ?? call.reasoning ?? 'strip-after-first-edit';
      const compacted = await inner(messages, { ...call, reasoning });
      return reasoning === 'keep'
        ? restoreTurnStart(compacted, messages, MESSAGE_PARAM_FORMAT)
        : compacted;
    },
  );
  // What comes back was given, or is a copy with fewer parts and other texts in it.
  return Object.assign(
    async (given: readonly Message[], call?: CompactCall) =>
      (await compact(given, call)) as Message[],
    { report: () => compact.report() },
  );
}
