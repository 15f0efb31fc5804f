// One conversation: a session, and the messages that it stands for. Takes what is new among the messages
// of a call, lets its session run a preflight, and tells how the messages stand then.

import type { Compactor } from '../main/compactor.js';
import { abortable } from '../main/waiting/abortable.js';
import type { Session } from '../main/session.js';
import type { IContent } from '../shared/content.js';
import { asError, CtxfoldError } from '../shared/errors.js';
import type { CompactCall, CompleteAdapterOptions } from './adapter-options.js';
import type { MessageFormat } from './message-format.js';
import { MessageView } from './message-view.js';
import type { KnownMessages, ReadAhead } from './message-view.js';

/** What one conversation has come to. Tokens are counted ones. */
export interface ConversationReport {
  readonly sessionId: string;
  /** Messages that were given. */
  readonly givenMessages: number;
  /** Messages that they came to at the end of the last call. */
  readonly sentMessages: number;
  /** Tokens sent, and what the provider's cache made of them, by estimate. */
  readonly costs: ReturnType<Session['costs']>;
}

/** What a conversation is made with. */
export interface ConversationParts<Message> {
  readonly compactor: Compactor;
  readonly format: MessageFormat<Message>;
  readonly options: CompleteAdapterOptions;
}

/** A session that was told of messages which the view has read ahead. */
interface ToldSession<Message> extends Pick<ReadAhead<Message>, 'commit'> {
  readonly session: Session;
}

/** Messages that begin with others: with so many of them, for lists grow. */
interface Beginning<Message> {
  readonly messages: readonly Message[];
  readonly known: readonly Message[];
  readonly length: number;
}

/** A conversation whose messages were told to one session. Calls run one after the other. */
export class Conversation<Message> {
  readonly #parts: ConversationParts<Message>;
  readonly #sessionId: string | undefined;
  /** Those of the newest call. */
  #options: CompleteAdapterOptions;
  #view: MessageView<Message>;
  #session: Session | undefined;
  /** The messages of the last call that has come in, which may still wait for its turn. */
  #awaited: readonly Message[] = [];
  /** The messages of the call that the view holds all of: as the caller had them, edited or not. */
  #taken: KnownMessages<Message> = { messages: [], places: [] };
  #lastCall: Promise<unknown>;
  /** What the last comparison has found, which nobody needs to find out twice. */
  #found: Beginning<Message> | undefined;
  /** Whether the session has made all messages ready that the view holds. */
  #isReady = false;
  /** Whether edits may have landed that the view does not know of. */
  #hasUnknownEdits = false;
  #isBroken = false;

  /**
   * @param sessionId of a conversation that has a name @default one that the session makes up
   * @param isFree ends when no other session has that id
   */
  constructor(
    parts: ConversationParts<Message>,
    sessionId?: string,
    isFree: Promise<unknown> = Promise.resolve(),
  ) {
    this.#parts = parts;
    this.#options = parts.options;
    this.#lastCall = isFree;
    this.#sessionId = sessionId;
    this.#view = new MessageView(parts.format);
  }

  /** Whether messages could not be taken in: the conversation can go no further then. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** How many of the messages the conversation knows when they go on where it stands, or else -1. */
  knownLength(messages: readonly Message[]): number {
    const lists = [this.#awaited, ...this.#knownLists().map((known) => known.messages)];
    return lists.find((list) => this.#startsWith(messages, list))?.length ?? -1;
  }

  /**
   * Returns the messages as they are to be sent: a new list. The one given must not change any more.
   *
   * @returns `null` when the conversation has gone on in another way meanwhile
   * @throws what the session or the format threw, or the signal's reason.
   */
  compact(
    messages: readonly Message[],
    call: CompactCall,
    options: CompleteAdapterOptions,
  ): Promise<Message[] | null> {
    this.#options = options;
    this.#awaited = messages;
    const turn = this.#lastCall.then(async () => {
      try {
        return await this.#run(messages, call);
      } catch (thrown) {
        this.#tellFailure(thrown, call);
        throw thrown;
      }
    });
    this.#lastCall = turn.catch(() => undefined);
    return abortable(turn, call.signal);
  }

  get report(): ConversationReport | undefined {
    if (this.#session === undefined) return undefined;
    return {
      sessionId: this.#session.sessionId,
      givenMessages: this.#view.given.length,
      sentMessages: this.#view.standing.length,
      costs: this.#session.costs(),
    };
  }

  /** Closes the session once the call that runs has ended. */
  async close(): Promise<void> {
    await this.#lastCall;
    await this.#session?.close();
  }

  async #run(messages: readonly Message[], call: CompactCall): Promise<Message[] | null> {
    call.signal?.throwIfAborted();
    const known = this.#goneOnFrom(messages);
    if (known === null) {
      if (this.#awaited === messages) this.#awaited = this.#taken.messages;
      return null;
    }
    const startsOver = known.places.length === 0 && this.#view.given.length > 0;
    const view = startsOver ? new MessageView(this.#parts.format) : this.#view;
    view.adopt(known, messages);
    // The lists of the view grow with what is taken in.
    const places = [...known.places];
    const fresh = messages.slice(places.length);
    if (fresh.length > 0 || !this.#isReady) {
      // What is refused here has changed nothing, but a conversation that never began is none.
      this.#isBroken ||= this.#session === undefined;
      const reading = view.read(fresh);
      this.#isReady = false;
      // Until they are taken in, what was read of them is only half known.
      this.#isBroken = true;
      if (startsOver) this.#startOver(view);
      const { session, commit } = await this.#tell(reading, call);
      places.push(...commit());
      this.#isBroken = false;
      this.#taken = { messages, places };
      await this.#makeReady(session, call);
      this.#isReady = true;
    } else {
      this.#taken = { messages, places };
    }
    return [...this.#view.standing];
  }

  #tellFailure(thrown: unknown, { signal }: CompactCall): void {
    if (this.#options.onError === 'throw' || signal?.aborted === true) return;
    this.#session?.reportFallback({ task: 'send', error: asError(thrown), attempts: 0 });
  }

  /** What a caller may go on from: what it had, what it has kept from the beginning, what it was given back. */
  #knownLists(): readonly KnownMessages<Message>[] {
    return [this.#taken, ...this.#view.knownLists];
  }

  /** The known list that the messages begin with: an empty one for a conversation that begins, or starts over. */
  #goneOnFrom(messages: readonly Message[]): KnownMessages<Message> | null {
    const nothing = { messages: [], places: [] };
    if (this.#view.given.length === 0) return nothing;
    const known = this.#knownLists().find((list) => this.#startsWith(messages, list.messages));
    if (known !== undefined) return known;
    return this.#sessionId === undefined ? null : nothing;
  }

  #startOver(view: MessageView<Message>): void {
    this.#view = view;
    this.#session?.history.clear();
  }

  /** Tells the session of new messages, and what the provider said about the ones before. */
  async #tell(
    { entries, commit }: ReadAhead<Message>,
    call: CompactCall,
  ): Promise<ToldSession<Message>> {
    const { modelName } = call;
    let session = this.#session;
    if (session === undefined) {
      session = await this.#createSession(entries, call);
      if (modelName !== undefined) session.history.nameModel(modelName);
      this.#session = session;
    } else {
      this.#reportUsage(session, call);
      session.history.addAll(entries, modelName);
    }
    return { session, commit };
  }

  async #makeReady(session: Session, { signal }: CompactCall): Promise<void> {
    const view = this.#view;
    const promptId = `${session.sessionId}#${view.given.length}`;
    const mayBeUnknown = this.#hasUnknownEdits;
    this.#hasUnknownEdits = true;
    const { pruned, compressed, fitted } = await session.ensureCompressionBeforeSend(
      promptId,
      view.pinnedTokens,
      'adapter',
      { signal },
    );
    if (mayBeUnknown || compressed?.outcome === 'applied') {
      view.follow(session.history.getRawHistory());
    } else {
      for (const edit of [pruned, fitted]) if (edit !== null) view.applyChanges(edit.changes);
    }
    this.#hasUnknownEdits = false;
  }

  async #createSession(history: readonly IContent[], { reasoning }: CompactCall): Promise<Session> {
    const { compactor } = this.#parts;
    const options = this.#options;
    const session = await compactor.createSession({
      edits: options.edits,
      minReclaimTokens: options.minReclaimTokens,
      cacheTtlMs: options.cacheTtlMs,
      reasoning: options.reasoning ?? reasoning,
      density: options.density,
      activeTodos: options.activeTodos && (() => this.#options.activeTodos?.() ?? []),
      overheadTokens: options.overheadTokens,
      removalLogDirectory: options.removalLogDirectory,
      canRecall: options.canRecall,
      sessionId: this.#sessionId,
      history,
    });
    await this.#tellOf(session);
    return session;
  }

  /** A session that its host did not hear of is not used. */
  async #tellOf(session: Session): Promise<void> {
    const { onSession, logger } = this.#options;
    try {
      // A function of JavaScript may be async all the same; a turn does not wait for it.
      Promise.resolve<unknown>(onSession?.(session)).catch((thrown: unknown) => {
        logger.error('onSession rejected', { error: asError(thrown) });
      });
    } catch (cause) {
      await session.close();
      throw new CtxfoldError(
        `onSession threw: ${asError(cause).message}. The session is closed; the next call begins another one.`,
        'CALLBACK_FAILED',
        { cause },
      );
    }
  }

  #reportUsage(session: Session, { reportedInputTokens, modelName }: CompactCall): void {
    if (reportedInputTokens === undefined) return;
    if (this.#options.overheadTokens === undefined) return;
    session.reportUsage({ inputTokens: reportedInputTokens, modelName });
  }

  /** Compares from the end: what goes on differs there first. Nearly all messages are the same objects. */
  #startsWith(messages: readonly Message[], known: readonly Message[]): boolean {
    if (known.length === 0 || messages.length < known.length) return false;
    const { length } = known;
    if (
      this.#found?.messages === messages &&
      this.#found.known === known &&
      this.#found.length === length
    )
      return true;
    for (let at = known.length - 1; at >= 0; at -= 1) {
      const message = messages[at] as Message;
      const former = known[at] as Message;
      if (message !== former && !this.#parts.format.isSame(message, former)) return false;
    }
    this.#found = { messages, known, length };
    return true;
  }
}
