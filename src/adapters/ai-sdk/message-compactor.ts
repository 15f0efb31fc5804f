// The adapter for loops of your own over a model of the AI SDK.

import type { ModelMessage } from 'ai';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { checkedMessages } from '../request/call-arguments.js';
import { createMessageCompactor } from '../conversation/message-compactor.js';
import type { MessageCompactor } from '../conversation/message-compactor.js';
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
      united(await compactEach(allDivided(checkedMessages(messages)), call)),
  );
  // Returned messages are given ones, or copies with fewer parts and other texts.
  return compact as unknown as MessageCompactor<Message>;
}

/** A message as two. */
interface Divided {
  readonly whole: SdkMessage;
  readonly approvals: SdkMessage;
  readonly results: SdkMessage;
}

/** By message, and by the first of its two. */
const DIVIDED = new WeakMap<SdkMessage, Divided>();

/** Returns a list that cannot be read as it is: its compaction fails, and says why. */
function allDivided(messages: readonly SdkMessage[]): readonly SdkMessage[] {
  try {
    return messages.flatMap(divided);
  } catch {
    return messages;
  }
}

/**
 * Divides a message with approvals and the results of the approved calls. The SDK has these in two messages while it goes on, and
 * in one once it has converted UI messages for the next request, which would be another conversation.
 */
function divided(message: SdkMessage): SdkMessage | readonly SdkMessage[] {
  const both = DIVIDED.get(message) ?? divide(message);
  return both !== undefined && both.whole === message ? [both.approvals, both.results] : message;
}

function divide(whole: SdkMessage): Divided | undefined {
  try {
    const { role, content } = whole;
    if (role !== 'tool' || !Array.isArray(content)) return undefined;
    const parts = content as readonly SdkPart[];
    const answers = parts.filter(isApproval);
    if (answers.length === 0 || answers.length === parts.length) return undefined;
    const approvals = { ...whole, content: answers };
    const results = { ...whole, content: parts.filter((part) => !isApproval(part)) };
    const both = { whole, approvals, results };
    DIVIDED.set(whole, both).set(approvals, both);
    return both;
  } catch {
    // The reader of the format decides about messages that throw.
    return undefined;
  }
}

/** Returns messages that were divided, and not edited, as they were. */
function united(messages: readonly SdkMessage[]): SdkMessage[] {
  return messages.flatMap((message, at) => {
    const before = messages[at - 1];
    if (before !== undefined && DIVIDED.get(before)?.results === message) return [];
    const both = DIVIDED.get(message);
    return both !== undefined && both.results === messages[at + 1] ? both.whole : message;
  });
}

function isApproval({ type }: SdkPart): boolean {
  return type === 'tool-approval-response';
}
