// Finds the conversation that the messages of a call belong to: the one that they continue. SDKs hand
// over the whole array each time and name nothing.

import { asError } from '../shared/errors.js';
import type { Compactor } from '../main/compactor.js';
import { completeAdapterOptions } from './adapter-options.js';
import type { AdapterOptions, CompactCall, CompleteAdapterOptions } from './adapter-options.js';
import { checkedMessages } from './call-arguments.js';
import { Conversation } from './conversation.js';
import type { ConversationReport } from './conversation.js';
import type { MessageFormat } from './message-format.js';

/** What a conversation is for, besides its messages. */
interface Purpose {
  readonly conversationId: string | undefined;
  /** A session does one thing with reasoning: who wants another has another conversation. */
  readonly reasoning: CompactCall['reasoning'];
}

/** The conversations of one adapter. Those that were not used for the longest time are closed. */
export class Conversations<Message> {
  readonly #compactor: Compactor;
  readonly #format: MessageFormat<Message>;
  /** Those of the newest call. */
  #options: CompleteAdapterOptions;
  /** With what each is for; the one that was used last stands last. */
  readonly #conversations = new Map<Conversation<Message>, Purpose>();
  /** By name, the conversations that close: who goes on with one waits for its session. */
  readonly #closing = new Map<string, Promise<void>>();

  /** @throws RangeError naming each option that is wrong. */
  constructor(compactor: Compactor, format: MessageFormat<Message>, options: AdapterOptions = {}) {
    this.#compactor = compactor;
    this.#format = format;
    this.#options = completeAdapterOptions(options);
  }

  /**
   * Makes the messages of a conversation ready to be sent. Messages that were handed over must not be
   * changed afterwards. Compares the array with the ones before, object by object; reads what is new.
   *
   * @param options differ from the former ones in nothing but functions and the logger
   * @param isFree ends when nobody else has a session of the conversation's name
   * @returns a new list; messages that nothing was edited in are the same objects
   * @throws TypeError for what is no list of messages; what the session threw; the signal's reason.
   */
  async compact(
    given: readonly Message[],
    call: CompactCall = {},
    options: CompleteAdapterOptions = this.#options,
    isFree?: Promise<void>,
  ): Promise<Message[]> {
    this.#options = options;
    // A copy: the caller's own list may grow while this waits.
    const messages = checkedMessages(given);
    call.signal?.throwIfAborted();
    if (messages.length === 0) return [];
    const { conversationId } = call;
    const purpose = { conversationId, reasoning: this.#options.reasoning ?? call.reasoning };
    for (;;) {
      const conversation = this.#conversationOf(messages, purpose, isFree);
      this.#use(conversation, purpose);
      try {
        const compacted = await conversation.compact(messages, call, options);
        if (compacted !== null) return compacted;
      } finally {
        if (conversation.isBroken) this.#drop(conversation);
      }
    }
  }

  /** What the conversations have come to that are remembered; the one that was used last comes last. */
  report(): readonly ConversationReport[] {
    return [...this.#conversations.keys()].flatMap(({ report }) => report ?? []);
  }

  /** Closes the conversation of a name once its calls have ended; `undefined` when there is none. */
  forget(conversationId: string): Promise<void> | undefined {
    for (const [conversation, purpose] of this.#conversations) {
      if (purpose.conversationId === conversationId) this.#drop(conversation);
    }
    return this.#closing.get(conversationId);
  }

  /** Closes all conversations once their calls have ended. Whoever goes on begins another one. */
  forgetAll(): void {
    for (const conversation of this.#conversations.keys()) this.#drop(conversation);
  }

  #conversationOf(
    messages: readonly Message[],
    { conversationId, reasoning }: Purpose,
    isFree: Promise<void> | undefined,
  ): Conversation<Message> {
    let best: Conversation<Message> | undefined;
    let bestLength = 0;
    for (const [conversation, purpose] of this.#conversations) {
      if (purpose.conversationId !== conversationId) continue;
      if (conversationId !== undefined) return conversation;
      if (purpose.reasoning !== reasoning) continue;
      const knownLength = conversation.knownLength(messages);
      if (knownLength < bestLength) continue;
      best = conversation;
      bestLength = knownLength;
    }
    if (best !== undefined) return best;
    const { length } = messages;
    this.#options.logger.debug('a conversation begins', { conversationId, messages: length });
    const parts = { compactor: this.#compactor, format: this.#format, options: this.#options };
    const closing = conversationId === undefined ? undefined : this.#closing.get(conversationId);
    return new Conversation(parts, conversationId, Promise.all([isFree, closing]));
  }

  #use(conversation: Conversation<Message>, purpose: Purpose): void {
    this.#conversations.delete(conversation);
    this.#conversations.set(conversation, purpose);
    for (const oldest of this.#conversations.keys()) {
      if (this.#conversations.size <= this.#options.maxConversations) break;
      this.#drop(oldest);
    }
  }

  /** Nobody waits for a conversation to close that nobody uses. */
  #drop(conversation: Conversation<Message>): void {
    const name = this.#conversations.get(conversation)?.conversationId;
    this.#conversations.delete(conversation);
    const closing = conversation.close().catch((thrown: unknown) => {
      const error = asError(thrown);
      this.#options.logger.error('the session of a conversation could not be closed', { error });
    });
    if (name === undefined) return;
    this.#closing.set(name, closing);
    void closing.then(() => {
      if (this.#closing.get(name) === closing) this.#closing.delete(name);
    });
  }
}
