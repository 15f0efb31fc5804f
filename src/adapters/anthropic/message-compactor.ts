// The function form of the adapter: messages of the Messages API in, messages out. Also derives the reasoning policy from a request.

import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { Compactor } from '../../main/compactor.js';
import { isRecord } from '../../shared/json.js';
import type { AdapterOptions, CompactCall } from '../adapter-options.js';
import { checkedCall, checkedMessages } from '../call-arguments.js';
import { createMessageCompactor } from '../message-compactor.js';
import type { MessageCompactor } from '../message-compactor.js';
import { MESSAGE_PARAM_FORMAT } from './message-param-format.js';
import type { AnthropicMessage } from './message-param-format.js';
import { restoreTurnStart } from './turn-start.js';

/**
 * Returns a function that compacts the messages of a conversation for `messages.create`. It takes the
 * whole list each time and changes nothing in it; pass it your list, and send what it returns. Cache
 * breakpoints may move from call to call.
 *
 * By default, reasoning is removed from the first edit on, because newer models reject reasoning if
 * something before it has changed. With `thinking: { type: 'enabled' }`, or `drop_block` for
 * prefix mismatches, set `reasoning: 'keep'`.
 *
 * @throws RangeError naming each invalid option.
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
  // Returned messages are given ones, or copies with fewer parts and other texts.
  return compact as unknown as MessageCompactor<Message>;
}

/**
 * Returns the reasoning policy for a request with this `thinking`.
 *
 * Models that bind thinking to the messages before it (adaptive thinking, and between tools) reject an edit of those
 * with status 400, so the thinking is removed. It is kept with a budget (`type: 'enabled'`), because the last assistant turn must
 * start with thinking, and models that accept a budget bind nothing; and with `drop_block`, because the API itself drops
 * thinking that no longer matches.
 */
export function reasoningOfRequest(thinking: unknown): NonNullable<CompactCall['reasoning']> {
  if (!isRecord(thinking)) return 'strip-after-first-edit';
  const { type, block_binding: binding } = thinking;
  const drops = isRecord(binding) && binding['prefix_mismatch_behavior'] === 'drop_block';
  return type === 'enabled' || drops ? 'keep' : 'strip-after-first-edit';
}
