// The adapter for loops of your own over a model of the AI SDK.

import type { ModelMessage } from 'ai';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { createMessageCompactor } from '../conversation/message-compactor.js';
import type { MessageCompactor } from '../conversation/message-compactor.js';
import { MODEL_MESSAGE_FORMAT } from './sdk-message-format.js';
import type { SdkMessage } from './sdk-message.js';
import { asGiven, withSettledResults } from './step-results.js';

/**
 * Creates a function that takes the messages of a conversation and returns those to send. Shares its
 * conversations with `prepareStep`.
 *
 * @throws RangeError naming each invalid option.
 */
export function messageCompactor<Message extends SdkMessage = ModelMessage>(
  compactor: Compactor,
  options: AdapterOptions = {},
): MessageCompactor<Message> {
  return createMessageCompactor<SdkMessage, Message>(
    compactor,
    MODEL_MESSAGE_FORMAT,
    options,
    (compactEach) => async (messages, call) =>
      (await compactEach(withSettledResults(messages), call)).map(asGiven),
  );
}
