// Finds the conversation that a call continues, by its messages: SDKs pass the whole array each time, without an id. An
// adapter may be created anew for each run, so conversations belong to the compactor, by format and options.

import { asError } from '../shared/errors.js';
import type { Compactor } from '../main/compactor.js';
import { completeAdapterOptions } from './adapter-options.js';
import type { AdapterOptions, CompactCall, CompleteAdapterOptions } from './adapter-options.js';
import { checkedMessages } from './call-arguments.js';
import { Conversation } from './conversation.js';
import type { ConversationReport } from './conversation.js';
import type { MessageFormat } from './message-format.js';
import { isSameValue } from './same-value.js';

/** What a call and a conversation must have in common, besides messages. */
interface ConversationKey {
  readonly conversationId: string | undefined;
  /** A session has one reasoning policy. */
  readonly reasoning: CompactCall['reasoning'];
}

/** The conversations of one format under the same options, as an LRU cache: evicted ones are closed. */
export class Conversations<Message> {
  readonly #compactor: Compactor;
  readonly #format: MessageFormat<Message>;
  /** From the newest call. */
  #options: CompleteAdapterOptions;
  /** Least recently used first. */
  readonly #conversations = new Map<Conversation<Message>, ConversationKey>();
  /** Closing conversations by id. A new conversation with the same id waits for them. */
  readonly #closing = new Map<string, Promise<void>>();

  /** @throws RangeError naming each option that is wrong. */
  constructor(compactor: Compactor, format: MessageFormat<Message>, options: AdapterOptions = {}) {
    this.#compactor = compactor;
    this.#format = format;
    this.#options = completeAdapterOptions(options);
  }

  /**
   * Compacts the messages of a conversation. Messages that were passed must not be changed afterwards.
   * Compares the array with earlier ones object by object, and reads only new messages.
   *
   * @param options may differ from earlier ones only in functions and the logger
   * @param idIsFree settles once no other session has the conversation's id
   * @returns a new list; unedited messages are the same objects
   * @throws TypeError if it is not a list of messages; what the session threw; the signal's reason.
   */
  async compact(
    given: readonly Message[],
    call: CompactCall = {},
    options: CompleteAdapterOptions = this.#options,
    idIsFree?: Promise<void>,
  ): Promise<Message[]> {
    this.#options = options;
    // A copy: the caller's own list may grow while this waits.
    const messages = checkedMessages(given);
    call.signal?.throwIfAborted();
    if (messages.length === 0) return [];
    const { conversationId } = call;
    const key = { conversationId, reasoning: this.#options.reasoning ?? call.reasoning };
    for (;;) {
      const conversation = this.#conversationOf(messages, key, idIsFree);
      this.#use(conversation, key);
      try {
        const compacted = await conversation.compact(messages, call, options);
        if (compacted !== null) return compacted;
      } finally {
        if (conversation.isBroken) this.#drop(conversation);
      }
    }
  }

  /** Reports of the cached conversations, least recently used first. */
  report(): readonly ConversationReport[] {
    return [...this.#conversations.keys()].flatMap(({ report }) => report ?? []);
  }

  /** Closes the conversation with an id once its calls have ended; `undefined` if there is none. */
  forget(conversationId: string): Promise<void> | undefined {
    for (const [conversation, key] of this.#conversations) {
      if (key.conversationId === conversationId) this.#drop(conversation);
    }
    return this.#closing.get(conversationId);
  }

  /** Closes all conversations once their calls have ended. */
  forgetAll(): void {
    for (const conversation of this.#conversations.keys()) this.#drop(conversation);
  }

  #conversationOf(
    messages: readonly Message[],
    { conversationId, reasoning }: ConversationKey,
    idIsFree: Promise<void> | undefined,
  ): Conversation<Message> {
    let best: Conversation<Message> | undefined;
    let bestLength = 0;
    for (const [conversation, key] of this.#conversations) {
      if (key.conversationId !== conversationId) continue;
      if (conversationId !== undefined) return conversation;
      if (key.reasoning !== reasoning) continue;
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
    return new Conversation(parts, conversationId, Promise.all([idIsFree, closing]));
  }

  #use(conversation: Conversation<Message>, key: ConversationKey): void {
    this.#conversations.delete(conversation);
    this.#conversations.set(conversation, key);
    for (const oldest of this.#conversations.keys()) {
      if (this.#conversations.size <= this.#options.maxConversations) break;
      this.#drop(oldest);
    }
  }

  /** Closes a conversation in the background. */
  #drop(conversation: Conversation<Message>): void {
    const id = this.#conversations.get(conversation)?.conversationId;
    this.#conversations.delete(conversation);
    const closing = conversation.close().catch((thrown: unknown) => {
      const error = asError(thrown);
      this.#options.logger.error('the session of a conversation could not be closed', { error });
    });
    if (id === undefined) return;
    this.#closing.set(id, closing);
    void closing.then(() => {
      if (this.#closing.get(id) === closing) this.#closing.delete(id);
    });
  }
}

/** Option sets for which a compactor keeps conversations. */
const MAX_OPTION_SETS = 16;

/** Identifies a named conversation within a format: users may have the same ids in directories of their own. */
export interface NamedConversation {
  readonly conversationId: string;
  readonly removalLogDirectory: string | undefined;
}

interface OptionSet {
  readonly format: unknown;
  readonly plainOptions: PlainOptions;
  readonly conversations: Pick<Conversations<unknown>, 'forget' | 'forgetAll'>;
}

/** Least recently used first. */
const OPTION_SETS = new WeakMap<Compactor, OptionSet[]>();

/**
 * Returns the conversations of a compactor with this format and equal options. Functions and the logger are not compared,
 * because they may be created anew for each run: those of the newest call are used.
 */
export function sharedConversations<Message>(
  compactor: Compactor,
  format: MessageFormat<Message>,
  options: CompleteAdapterOptions,
): Conversations<Message> {
  const sets = OPTION_SETS.get(compactor) ?? [];
  const plainOptions = plainOptionsOf(options);
  const at = sets.findIndex(
    (set) => set.format === format && isSameValue(set.plainOptions, plainOptions),
  );
  const [found] = at === -1 ? [] : sets.splice(at, 1);
  const set = found ?? {
    format,
    plainOptions,
    conversations: new Conversations(compactor, format, options),
  };
  sets.push(set);
  if (sets.length > MAX_OPTION_SETS) sets.shift()?.conversations.forgetAll();
  OPTION_SETS.set(compactor, sets);
  // The format is the same object, so its messages have the same type.
  return set.conversations as Conversations<Message>;
}

/**
 * Closes a named conversation that exists under other options, so that only one session has its id. Resolves once it has
 * closed.
 */
export async function closeUnderOtherOptions(
  compactor: Compactor,
  format: unknown,
  except: unknown,
  { conversationId, removalLogDirectory }: NamedConversation,
): Promise<void> {
  const others = (OPTION_SETS.get(compactor) ?? []).filter(
    (set) =>
      set.format === format &&
      set.conversations !== except &&
      set.plainOptions.removalLogDirectory === removalLogDirectory,
  );
  await Promise.all(others.map(async ({ conversations }) => conversations.forget(conversationId)));
}

/** Closes a named conversation of any format, under any options, once its calls have ended. */
export function closeConversation(compactor: Compactor, conversationId: string): void {
  for (const { conversations } of OPTION_SETS.get(compactor) ?? []) {
    void conversations.forget(conversationId);
  }
}

type PlainOptions = Pick<CompleteAdapterOptions, 'removalLogDirectory'>;

function plainOptionsOf({ logger: _, ...options }: CompleteAdapterOptions): PlainOptions {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => typeof value !== 'function'),
  );
}
