// The function form of the adapter: messages of the Messages API in, messages out.

import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { Compactor } from '../../main/compactor.js';
import { plainModelName } from '../../main/models/model-name.js';
import { asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { cacheTtlIn } from '../format/cache-marks.js';
import { reasoningOfModel } from '../request/claude-reasoning.js';
import { createMessageCompactor } from '../conversation/message-compactor.js';
import type { MessageCompactor } from '../conversation/message-compactor.js';
import type { MessageFormat } from '../format/message-format.js';
import { MESSAGE_PARAM_FORMAT } from './message-param-format.js';
import type { AnthropicMessage } from './message-part.js';

/** The format of messages whose reasoning follows Claude's rules. */
export const CLAUDE_FORMAT: MessageFormat<AnthropicMessage> = {
  ...MESSAGE_PARAM_FORMAT,
  reasoningOf: reasoningOfModel,
};

/**
 * Returns a function that compacts the messages of a conversation for `messages.create`. It takes the
 * whole list each time and changes nothing in it; pass it your list, and send what it returns. Cache
 * breakpoints may move from call to call.
 *
 * By default, reasoning is removed from the first edit on, because newer models reject reasoning if something before it has
 * changed. For models up to Claude 4.6 reasoning is kept, if the call names the model; the model may change from call to call. With
 * `thinking: { type: 'enabled' }` for a newer model, or `drop_block` for prefix mismatches, set `reasoning: 'keep'`.
 *
 * @throws RangeError naming each invalid option.
 */
export function messageCompactor<Message extends AnthropicMessage = MessageParam>(
  compactor: Compactor,
  options: AdapterOptions = {},
): MessageCompactor<Message> {
  return createMessageCompactor<AnthropicMessage, Message>(compactor, CLAUDE_FORMAT, options);
}

/**
 * Returns the cache lifetime that a request asks for with its own cache mark, in milliseconds. Without such a mark, Claude caches
 * messages only up to marks in them, so the result is 0. Other models behind this API may cache by themselves: `undefined`.
 */
export function cacheTtlOfRequest({ cache_control: mark, model }: JsonRecord): number | undefined {
  const isClaude = plainModelName(asText(model) ?? '').startsWith('claude-');
  return cacheTtlIn({ cache_control: mark }) ?? (isClaude ? 0 : undefined);
}
