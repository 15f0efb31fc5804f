// Finds the conversation that a call continues by comparing messages: SDKs pass the whole array each time, without an id. An
// adapter may be created anew for each run, so conversations are kept per compactor and format.

import { asError } from '../../shared/errors.js';
import { SetsByKey } from '../../shared/sets-by-key.js';
import type { Compactor } from '../../main/compactor.js';
import { SILENT_LOGGER } from '../../main/host/logger.js';
import type { Logger } from '../../main/host/logger.js';
import type { CompactCall, CompleteAdapterOptions } from '../request/adapter-options.js';
import { Conversation } from './conversation.js';
import type { ConversationReport } from './conversation.js';
import type { MessageFormat } from '../format/message-format.js';
import { isSameValue } from '../format/same-value.js';

/** What a call and the conversation that it continues have in common besides messages. */
interface ConversationKey {
  readonly conversationId: string | undefined;
  /** Directory and id of a named conversation: users may have the same ids in directories of their own. */
  readonly name: string | undefined;
  /**
   * Whether there is a reasoning policy, from the call or for the model, as for Claude. Models without one refuse a history whose
   * reasoning was removed for Claude's sake. `undefined` if no model is named: such a call continues with the same model as before, if
   * the model's name decided about the policy.
   */
  readonly hasReasoningPolicy: boolean | undefined;
  /** Whether the call gave the reasoning policy. */
  readonly isPolicyGiven: boolean;
  /** One object for all equal options, so that `===` compares them. */
  readonly options: PlainOptions;
}

interface Closing extends Pick<ConversationKey, 'name'> {
  readonly closed: Promise<void>;
}

/** Options without functions and the logger, which may be created anew for each run. */
type PlainOptions = Pick<CompleteAdapterOptions, 'removalLogDirectory'>;

/** Conversations under all options together are limited to this multiple of `maxConversations`. */
const MAX_OPTION_SETS = 16;

/** The conversations of one format, as an LRU cache: evicted ones are closed. */
export class Conversations<Message> {
  readonly #compactor: Compactor;
  readonly #format: MessageFormat<Message>;
  /** Least recently used first. */
  readonly #conversations = new Map<Conversation<Message>, ConversationKey>();
  /** The named ones by their `conversationId`: a server may have thousands. */
  readonly #byId = new SetsByKey<string | undefined, Conversation<Message>>();
  /** Conversations that are closing. One of the same name, or one that continues their messages, waits for what they leave. */
  readonly #closing = new Map<Conversation<Message>, Closing>();

  constructor(compactor: Compactor, format: MessageFormat<Message>) {
    this.#compactor = compactor;
    this.#format = format;
  }

  /**
   * Compacts the messages of a conversation. Messages that were passed must not be changed afterwards.
   * Compares the array with earlier ones object by object, and reads only new messages.
   *
   * @returns a new list; unedited messages are the same objects
   * @throws TypeError if it is not a list of messages; what the session threw; the signal's reason.
   */
  async compact(
    messages: readonly Message[],
    call: CompactCall,
    options: CompleteAdapterOptions,
  ): Promise<Message[]> {
    call.signal?.throwIfAborted();
    // A named conversation begins without messages where its host does not show the first turn before it is over: that nothing was
    // edited in it is known only so.
    if (messages.length === 0 && call.conversationId === undefined) return [];
    const key = this.#keyOf(call, options);
    // None is asked twice: two calls that wait for the same conversation would each take the other for its continuation.
    const declined = new Set<Conversation<Message>>();
    for (;;) {
      const conversation = this.#conversationOf(messages, key, options, declined);
      this.#use(conversation, key, options);
      try {
        const compacted = await conversation.compact(messages, call, options);
        if (compacted !== null) return compacted;
        declined.add(conversation);
      } finally {
        if (conversation.isBroken) this.#drop(conversation, options.logger);
      }
    }
  }

  /** Returns the messages as they would be sent without new edits; those passed if they continue no conversation. */
  async asSent(
    messages: readonly Message[],
    call: CompactCall,
    options: CompleteAdapterOptions,
  ): Promise<Message[]> {
    const key = this.#keyOf(call, options);
    const conversation = this.#knownConversation(messages, key, options);
    return (await conversation?.asSent(messages)) ?? [...messages];
  }

  #keyOf(call: CompactCall, options: CompleteAdapterOptions): ConversationKey {
    const { conversationId, modelName, reasoning = this.#format.reasoningOf?.(modelName) } = call;
    return {
      conversationId,
      name: conversationId && JSON.stringify([options.removalLogDirectory, conversationId]),
      hasReasoningPolicy: reasoning !== undefined || (modelName === undefined ? undefined : false),
      isPolicyGiven: call.reasoning !== undefined,
      options: this.#knownOptions(options),
    };
  }

  /** Reports of the cached conversations under equal options, least recently used first. */
  report(options: CompleteAdapterOptions): readonly ConversationReport[] {
    const known = this.#knownOptions(options);
    return [...this.#conversations].flatMap(([{ report = [] }, key]) =>
      key.options === known ? report : [],
    );
  }

  /** Closes the conversations with an id once their calls have ended. */
  forget(conversationId: string): void {
    for (const conversation of this.#byId.of(conversationId))
      this.#drop(conversation, SILENT_LOGGER);
  }

  /** Returns the equal options object of a known conversation if there is one, else a new object. */
  #knownOptions({ logger: _, ...options }: CompleteAdapterOptions): PlainOptions {
    const plain: PlainOptions = Object.fromEntries(
      Object.entries(options).filter(([, value]) => typeof value !== 'function'),
    );
    for (const known of this.#conversations.values()) {
      if (isSameValue(known.options, plain)) return known.options;
    }
    return plain;
  }

  #conversationOf(
    messages: readonly Message[],
    key: ConversationKey,
    options: CompleteAdapterOptions,
    declined: ReadonlySet<Conversation<Message>>,
  ): Conversation<Message> {
    const { conversationId } = key;
    const known = this.#knownConversation(messages, key, options, declined);
    if (known !== undefined) return known;
    options.logger.debug('a conversation begins', { conversationId, messages: messages.length });
    const parts = { compactor: this.#compactor, format: this.#format, options };
    // A named conversation that starts over is the same one.
    const alike = conversationId === undefined ? [...this.#conversations.keys()] : [];
    const refused = alike.map((former) => former.refusedFor(messages)).findLast(Boolean);
    return new Conversation(parts, conversationId, this.#formersClosed(messages, key), refused);
  }

  /** Resolves once the conversations have closed that a new one continues. */
  #formersClosed(messages: readonly Message[], { name }: ConversationKey): Promise<unknown> {
    const formers = [...this.#closing].filter(
      ([former, closing]) =>
        closing.name === name && (name !== undefined || former.knownLength(messages) >= 0),
    );
    return Promise.all(formers.map(([, { closed }]) => closed));
  }

  #knownConversation(
    messages: readonly Message[],
    key: ConversationKey,
    { logger }: CompleteAdapterOptions,
    declined: ReadonlySet<Conversation<Message>> = new Set(),
  ): Conversation<Message> | undefined {
    return key.conversationId === undefined
      ? this.#continuedBy(messages, key, declined)
      : this.#named(key, logger);
  }

  #continuedBy(
    messages: readonly Message[],
    { options, hasReasoningPolicy }: ConversationKey,
    declined: ReadonlySet<Conversation<Message>>,
  ): Conversation<Message> | undefined {
    let best: Conversation<Message> | undefined;
    let bestLength = 0;
    const alike: Conversation<Message>[] = [];
    for (const [conversation, key] of this.#conversations) {
      if (key.conversationId !== undefined || key.options !== options) continue;
      if (declined.has(conversation)) continue;
      const { hasReasoningPolicy: known = hasReasoningPolicy, isPolicyGiven } = key;
      if (hasReasoningPolicy === undefined ? isPolicyGiven : known !== hasReasoningPolicy) continue;
      alike.push(conversation);
      const knownLength = conversation.knownLength(messages);
      if (knownLength < bestLength) continue;
      best = conversation;
      bestLength = knownLength;
    }
    return best ?? alike.findLast((conversation) => conversation.isEdited(messages));
  }

  /** Finds a named conversation. Closes one of that name under other options, so that only one session has its id. */
  #named(key: ConversationKey, logger: Logger): Conversation<Message> | undefined {
    for (const conversation of this.#byId.of(key.conversationId)) {
      const known = this.#conversations.get(conversation);
      if (known?.name !== key.name) continue;
      if (known?.options === key.options) return conversation;
      this.#drop(conversation, logger);
    }
    return undefined;
  }

  #use(
    conversation: Conversation<Message>,
    key: ConversationKey,
    { maxConversations, logger }: CompleteAdapterOptions,
  ): void {
    const known = this.#conversations.get(conversation);
    const { hasReasoningPolicy = known?.hasReasoningPolicy, conversationId } = key;
    this.#conversations.delete(conversation);
    this.#conversations.set(conversation, { ...key, hasReasoningPolicy });
    if (known !== undefined) return;
    if (conversationId !== undefined) this.#byId.add(conversationId, conversation);
    const all = [...this.#conversations];
    const alike = all.filter(([, { options }]) => options === key.options);
    const evicted = [
      ...alike.slice(0, -maxConversations),
      ...all.slice(0, -maxConversations * MAX_OPTION_SETS),
    ];
    for (const [oldest] of evicted) this.#drop(oldest, logger);
  }

  /** Closes a conversation in the background. */
  #drop(conversation: Conversation<Message>, logger: Logger): void {
    const key = this.#conversations.get(conversation);
    if (key === undefined) return;
    this.#conversations.delete(conversation);
    this.#byId.delete(key.conversationId, conversation);
    const closed = conversation.close().catch((thrown: unknown) => {
      const error = asError(thrown);
      logger.error('the session of a conversation could not be closed', { error });
    });
    this.#closing.set(conversation, { name: key.name, closed });
    void closed.then(() => this.#closing.delete(conversation));
  }
}

const CONVERSATIONS = new WeakMap<Compactor, Map<unknown, Conversations<never>>>();

/** Returns the conversations of a compactor with this format. */
export function conversationsOf<Message>(
  compactor: Compactor,
  format: MessageFormat<Message>,
): Conversations<Message> {
  const byFormat = CONVERSATIONS.get(compactor) ?? new Map<unknown, Conversations<never>>();
  CONVERSATIONS.set(compactor, byFormat);
  const conversations = byFormat.get(format) ?? new Conversations(compactor, format);
  byFormat.set(format, conversations as Conversations<never>);
  // The format is the same object, so its messages have the same type.
  return conversations;
}

/** Closes a named conversation of any format, under any options, once its calls have ended. */
export function closeConversation(compactor: Compactor, conversationId: string): void {
  for (const conversations of CONVERSATIONS.get(compactor)?.values() ?? []) {
    conversations.forget(conversationId);
  }
}
