// The function form of the adapter for Chat Completions: messages in, messages out.

import type OpenAI from 'openai';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { createMessageCompactor } from '../conversation/message-compactor.js';
import type { MessageCompactor } from '../conversation/message-compactor.js';
import { chatMessageFormat } from './chat-message-format.js';
import type { ChatMessage } from './chat-message-format.js';

/**
 * Returns a function that compacts the messages of a conversation for `chat.completions.create`. It
 * takes the whole list each time and changes nothing in it: pass it your list, and send what it returns.
 * Works with every server with this API, and with Ollama's own. Name the type of messages of another package:
 * `chatCompactor<Message>(compactor)`.
 *
 * @throws RangeError naming each invalid option.
 */
export function chatCompactor<
  Message extends object = OpenAI.Chat.Completions.ChatCompletionMessageParam,
>(compactor: Compactor, options: AdapterOptions = {}): MessageCompactor<Message> {
  return createMessageCompactor<ChatMessage, Message>(compactor, chatMessageFormat, options);
}
