// The function form of the adapter for Chat Completions: messages in, messages out.

import type OpenAI from 'openai';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import { createMessageCompactor } from '../message-compactor.js';
import type { MessageCompactor } from '../message-compactor.js';
import { chatMessageFormat } from './chat-message-format.js';

/**
 * Returns a function that compacts the messages of a conversation for `chat.completions.create`. It
 * takes the whole list each time and changes nothing in it: pass it your list, and send what it returns.
 * Works with every server with this API.
 *
 * @throws RangeError naming each invalid option.
 */
export function chatCompactor(
  compactor: Compactor,
  options: AdapterOptions = {},
): MessageCompactor<OpenAI.Chat.Completions.ChatCompletionMessageParam> {
  return createMessageCompactor(compactor, chatMessageFormat, options);
}
