// The function form of an adapter: messages in, messages out. By default it fails open: if compaction fails, it returns the messages
// as they were passed, and reports the failure.

import type { Compactor } from '../../main/compactor.js';
import { completeAdapterOptions } from '../request/adapter-options.js';
import type {
  AdapterOptions,
  CompactCall,
  CompleteAdapterOptions,
} from '../request/adapter-options.js';
import { checkedCall, checkedFields, checkedMessages } from '../request/call-arguments.js';
import type { ConversationReport } from './conversation.js';
import { conversationsOf } from './conversations.js';
import type { MessageFormat } from '../format/message-format.js';
import { kindOf } from '../../shared/misuse.js';
import { warnOfFailure } from './warn-of-failure.js';

/**
 * Compacts the messages of a conversation. Takes the whole array each time, changes nothing in it, and returns a new one
 * in which unedited messages are the same objects.
 */
export interface MessageCompactor<Message> {
  /**
   * @returns a new list
   * @throws by default only TypeError if it is not a list, and the signal's reason; after any other failure it returns the messages as
   * passed, or with earlier edits if only this call's compaction failed. With `onError: 'throw'`: TypeError naming the message if it
   * is not a list of messages of the format, and TypeError or RangeError for invalid call arguments, both without any change, so that
   * the next call continues; `ContextWindowExceededError` if the messages cannot be made to fit; the signal's reason
   */
  (messages: readonly Message[], call?: CompactCall): Promise<Message[]>;
  /** Reports of its conversations, least recently used first. */
  report(): readonly ConversationReport[];
}

/** A `MessageCompactor` with what adapters use besides. */
export interface CountingCompactor<Message> extends MessageCompactor<Message> {
  /** Returns messages as they would be sent without a further edit, for counting them: the same ones if there was no edit. */
  readonly asSent: Compact<Message>;
}

/** A `MessageCompactor` without its report. */
export type Compact<Message> = (
  messages: readonly Message[],
  call?: CompactCall,
) => Promise<Message[]>;

/**
 * Creates the function for a format. It may be created anew for each run: with the same compactor and equal options, a
 * conversation continues in its session. Functions and loggers among the options need not be equal; those of the newest call
 * are used. If other options change, a conversation with a `conversationId` continues under the new ones, in another session;
 * a conversation without an id starts over.
 *
 * @typeParam Own the caller's type of messages. Returned messages are given ones, or copies with fewer parts and other texts
 * @param around what a format does before and after each call, whose arguments are checked by then
 * @throws TypeError for an invalid compactor or options that are not an object; RangeError naming each invalid option.
 */
export function createMessageCompactor<Message, Own = Message>(
  compactor: Compactor,
  format: MessageFormat<Message>,
  options: AdapterOptions = {},
  around: (compact: Compact<Message>) => Compact<Message> = (compact) => compact,
): CountingCompactor<Own> {
  if (typeof (compactor as Partial<Compactor> | null)?.createSession !== 'function') {
    throw new TypeError(
      `Expected a compactor, as createCompactor makes it, got ${kindOf(compactor)}.`,
    );
  }
  const complete = completeAdapterOptions(compactor, checkedFields(options, 'adapter options'));
  const conversations = conversationsOf(compactor, format);
  const compact: Compact<Message> = (messages, call = {}) =>
    conversations.compact(messages, call, complete);
  const asSent: Compact<Message> = (messages, call = {}) =>
    conversations.asSent(messages, call, complete);
  const counting: CountingCompactor<Message> = Object.assign(checked(complete, around(compact)), {
    report: () => conversations.report(complete),
    asSent: checked(complete, around(asSent)),
  });
  return counting as unknown as CountingCompactor<Own>;
}

/**
 * Checks the arguments of each call and applies `onError`: unless it is `throw`, a failed compaction returns the messages as they were
 * passed. A value that is not a list and an aborted signal reject in any case.
 */
function checked<Message>(
  { onError, logger }: CompleteAdapterOptions,
  compact: Compact<Message>,
): Compact<Message> {
  return async (given, argumentsOfCall) => {
    // Copies: the caller's own list may grow while this waits.
    const messages = checkedMessages(given);
    const all = messages.length === given.length ? messages : given.slice();
    let call: CompactCall = {};
    try {
      call = checkedCall(argumentsOfCall);
      return await compact(messages, call);
    } catch (thrown) {
      if (onError === 'throw' || call.signal?.aborted === true) throw thrown;
      warnOfFailure(logger, thrown, 'compaction failed; the messages are sent as they are');
      return [...all];
    }
  };
}
