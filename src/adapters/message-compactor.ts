// The function form of an adapter: messages in, messages out.

import type { Compactor } from '../main/compactor.js';
import { completeAdapterOptions } from './adapter-options.js';
import type { AdapterOptions, CompactCall } from './adapter-options.js';
import { checkedCall, checkedFields } from './call-arguments.js';
import { failOpen } from './fail-open.js';
import type { Compact } from './fail-open.js';
import type { ConversationReport } from './conversation.js';
import type { MessageFormat } from './message-format.js';
import { sharedConversations, takeOver } from './shared-conversations.js';

/**
 * Makes the messages of a conversation ready to be sent. Takes the whole array each time, changes nothing
 * in it, and returns another one in which messages without an edit are the same objects.
 */
export interface MessageCompactor<Message> {
  /**
   * @returns a new list
   * @throws by default, TypeError for what is no list, and the signal's reason: what else fails, `onError` has sent as it is. With
   * `onError: 'throw'`: TypeError for what is no list of messages of the format, naming the message, and TypeError or RangeError
   * for what is wrong about the call, both with nothing changed: the next call goes on; `ContextWindowExceededError`
   * when the messages cannot be made to fit; the signal's reason
   */
  (messages: readonly Message[], call?: CompactCall): Promise<Message[]>;
  /** What its conversations have come to; the one that was used last comes last. */
  report(): readonly ConversationReport[];
}

/**
 * Makes the function for a format. May be made anew for each run: with the same compactor and the same
 * options, a conversation goes on in the session that it began in. Functions and loggers among the options need
 * not be the same; those of the newest call are used. When other options change, a conversation with a
 * `conversationId` goes on under the new ones, in another session; one that is recognized by its messages is not
 * recognized.
 *
 * @param around what a format does before and behind
 * @throws TypeError for what is no compactor or no options; RangeError naming each option that is wrong.
 */
export function createMessageCompactor<Message>(
  compactor: Compactor,
  format: MessageFormat<Message>,
  options: AdapterOptions = {},
  around: (compact: Compact<Message>) => Compact<Message> = (compact) => compact,
): MessageCompactor<Message> {
  if (typeof (compactor as Partial<Compactor> | null)?.createSession !== 'function') {
    throw new TypeError(
      `Expected a compactor, as createCompactor makes it, got ${typeof compactor}.`,
    );
  }
  const complete = completeAdapterOptions(checkedFields(options, 'adapter options'));
  const compact = async (messages: readonly Message[], given?: CompactCall): Promise<Message[]> => {
    const call = checkedCall(given);
    const conversations = sharedConversations(compactor, format, complete);
    const { conversationId } = call;
    const { removalLogDirectory } = complete;
    const isFree =
      conversationId === undefined
        ? undefined
        : takeOver(compactor, format, conversations, { conversationId, removalLogDirectory });
    return conversations.compact(messages, call, complete, isFree);
  };
  const report = (): readonly ConversationReport[] =>
    sharedConversations(compactor, format, complete).report();
  return Object.assign(failOpen(complete, around(compact)), { report });
}
