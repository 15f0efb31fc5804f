// The adapter for loops of your own over a model of the AI SDK.

import type { ModelMessage } from 'ai';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import { checkedMessages } from '../call-arguments.js';
import { createMessageCompactor } from '../message-compactor.js';
import type { MessageCompactor } from '../message-compactor.js';
import { MODEL_MESSAGE_FORMAT } from './sdk-message-format.js';
import type { SdkMessage, SdkPart } from './sdk-message.js';

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
  const compact = createMessageCompactor(
    compactor,
    MODEL_MESSAGE_FORMAT,
    options,
    (compactEach) => async (messages, call) =>
      compactEach(checkedMessages(messages).flatMap(divided), call),
  );
  // Returned messages are given ones, or copies with fewer parts and other texts.
  return compact as unknown as MessageCompactor<Message>;
}

/** By message, its parts as two messages. */
const DIVIDED = new WeakMap<SdkMessage, readonly SdkMessage[]>();

/**
 * Divides a message with approvals and the results of the approved calls. The SDK has these in two messages while it goes on, and
 * in one once it has converted UI messages for the next request, which would be another conversation.
 */
function divided(message: SdkMessage): SdkMessage | readonly SdkMessage[] {
  const known = DIVIDED.get(message);
  if (known !== undefined) return known;
  try {
    const { role, content } = message;
    if (role !== 'tool' || !Array.isArray(content)) return message;
    const parts = content as readonly SdkPart[];
    const approvals = parts.filter(isApproval);
    if (approvals.length === 0 || approvals.length === parts.length) return message;
    const results = parts.filter((part) => !isApproval(part));
    const both = [approvals, results].map((each) => ({ ...message, content: each }));
    DIVIDED.set(message, both);
    return both;
  } catch {
    // The reader of the format decides about messages that throw.
    return message;
  }
}

function isApproval({ type }: SdkPart): boolean {
  return type === 'tool-approval-response';
}
