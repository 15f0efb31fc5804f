// One conversation: a session, and the messages that it stands for. Takes what is new among the messages of a call, lets its
// session run a preflight, and tells how they stand then.

import type { Compactor } from '../main/compactor.js';
import { abortable } from '../main/waiting/abortable.js';
import type { Session } from '../main/session.js';
import type { IContent } from '../shared/content.js';
import { asError, CtxfoldError } from '../shared/errors.js';
import type { CompactCall, CompleteAdapterOptions } from './adapter-options.js';
import { cacheTtlOfMessages } from './cache-marks.js';
import { usageReportOf } from './call-arguments.js';
import type { MessageFormat } from './message-format.js';
import { compactHead } from './provider-compaction.js';
import { MessageView } from './message-view.js';
import type { KnownMessages, ReadAhead } from './message-place.js';
import { allSteady, mayHavePassed, withoutEnd } from './passing-end.js';
import type { SteadyMessages } from './passing-end.js';
import { isPlainCopy } from './same-value.js';

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
interface ToldSession<Message> extends Pick<ReadAhead<Message>, 'commitInTurns'> {
  readonly session: Session;
}

/** Messages that begin with others: with so many of them, for lists grow. */
interface Beginning<Message> {
  readonly messages: readonly Message[];
  readonly known: readonly Message[];
  readonly length: number;
  /** Indices of those that say the same and are no copies: a mark of a cache has moved. Descending. */
  readonly varied: readonly number[];
  /** The first of those that are other objects, or `length`. */
  readonly firstOther: number;
}

/** What messages go on from. */
interface Continuation<Message> extends Pick<Beginning<Message>, 'varied' | 'firstOther'> {
  readonly known: KnownMessages<Message>;
}

const NOTHING = { known: { messages: [], places: [] }, varied: [], firstOther: 0 };

/** A conversation whose messages were told to one session. Calls run one after the other. */
export class Conversation<Message> {
  readonly #parts: ConversationParts<Message>;
  readonly #sessionId: string | undefined;
  #options: CompleteAdapterOptions;
  #view: MessageView<Message>;
  /** That of the newest call. */
  #askProvider: CompactCall['compactByProvider'];
  #session: Session | undefined;
  /** The messages of the last call that has come in, which may still wait for its turn. */
  #awaited: readonly Message[] = [];
  /** The messages of the call that the view holds all of: as the caller had them, edited or not. */
  #taken: KnownMessages<Message> = { messages: [], places: [] };
  #lastCall: Promise<unknown>;
  /** What the last comparison has found, which nobody needs to find out twice. */
  #found: Beginning<Message> | undefined;
  /**
   * One of the messages of the last call that were copies of those before. Copies are let go, as whoever builds all of
   * them for each call has others the next time; whoever keeps them has this one still.
   */
  #copy: { readonly at: number; readonly message: Message } | undefined;
  /** Whether a message at the end has turned out to be there for one call only. */
  #hasPassingEnd = false;
  /** What the session was not told of in the last call, and stands behind what it was. */
  #passing: readonly Message[] = [];
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
    const known = lists.find((list) => this.#beginningOf(messages, list) !== undefined);
    if (known !== undefined) return known.length;
    const passed = lists.find((list) => this.#hasLostEnd(messages, list));
    return passed === undefined ? -1 : passed.length - 1;
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
      givenMessages: this.#view.given.length + this.#passing.length,
      sentMessages: this.#view.standing.length + this.#passing.length,
      costs: this.#session.costs(),
    };
  }

  /** Closes the session once the call that runs has ended. */
  async close(): Promise<void> {
    await this.#lastCall;
    await this.#session?.close();
  }

  async #run(given: readonly Message[], call: CompactCall): Promise<Message[] | null> {
    call.signal?.throwIfAborted();
    this.#askProvider = call.compactByProvider;
    const { steady: messages, passing, passingTokens } = this.#steadyOf(given);
    const continuation = this.#goneOnFrom(messages) ?? (this.#hasPassingEnd ? NOTHING : null);
    this.#found = undefined;
    if (continuation === null) {
      if (this.#awaited === given) this.#awaited = this.#taken.messages;
      return null;
    }
    this.#passing = passing;
    const { known } = continuation;
    const startsOver = known.places.length === 0 && this.#view.given.length > 0;
    const view = startsOver ? new MessageView(this.#parts.format) : this.#view;
    const areCopies = this.#adopt(view, continuation, messages);
    const places = [...known.places]; // The view's own list grows with what is taken in.
    const fresh = messages.slice(places.length);
    const taken = { messages: areCopies ? withKnown(continuation, messages) : messages, places };
    // The same list where it can be: what is found out about one is not looked at again.
    const awaited = passing.length === 0 ? taken.messages : [...taken.messages, ...passing];
    if (areCopies && this.#awaited === given) this.#awaited = awaited;
    if (fresh.length > 0 || !this.#isReady) {
      // What is refused here has changed nothing, but a conversation that never began is none.
      this.#isBroken ||= this.#session === undefined;
      const reading = await view.readInTurns(fresh);
      this.#isReady = false;
      if (startsOver) this.#view = view;
      const told = this.#tell(reading, call, startsOver);
      // What was read and is not taken in is only half known.
      told.catch(() => (this.#isBroken = true));
      const { session, commitInTurns } = await told;
      for (const place of await commitInTurns()) places.push(place);
      this.#isBroken = false;
      this.#taken = taken;
      await this.#makeReady(session, call, passingTokens);
      this.#isReady = true;
    } else this.#taken = taken;
    const standing = areCopies ? this.#view.standingAs(taken, messages) : this.#view.standing;
    return [...standing, ...passing];
  }

  /**
   * Has the view know messages by their newest objects, but copies of all of them: these are not held.
   *
   * @returns whether there are such copies
   */
  #adopt(
    view: MessageView<Message>,
    { known, varied, firstOther }: Continuation<Message>,
    messages: readonly Message[],
  ): boolean {
    const former = this.#copy;
    this.#copy = undefined;
    if (firstOther >= known.places.length) return false;
    const isKept = former !== undefined && messages[former.at] === former.message;
    view.adopt(known, messages, isKept ? known.places.keys() : varied);
    const message = messages[firstOther] as Message;
    if (!isKept) this.#copy = { at: firstOther, message };
    return !isKept;
  }

  /** Sets the message at the end apart, from when one has passed until one stays. */
  #steadyOf(given: readonly Message[]): SteadyMessages<Message> {
    const { format } = this.#parts;
    const { length } = this.#taken.messages;
    const [passing] = this.#passing;
    const next = given[length];
    const hasStayed = passing !== undefined && next !== undefined && given.length > length + 1;
    const isPassing = !(hasStayed && (next === passing || format.isSame(next, passing)));
    if (!isPassing || this.#hasLostEnd(given, this.#taken.messages))
      this.#hasPassingEnd = isPassing;
    return this.#hasPassingEnd ? withoutEnd(format, given) : allSteady(given);
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
  #goneOnFrom(messages: readonly Message[]): Continuation<Message> | null {
    if (this.#view.given.length === 0) return NOTHING;
    for (const known of this.#knownLists()) {
      const beginning = this.#beginningOf(messages, known.messages);
      if (beginning !== undefined) return { ...beginning, known };
    }
    return this.#sessionId === undefined ? null : NOTHING;
  }

  /** Tells the session of new messages, and what the provider said about the ones before. */
  async #tell(
    { entries, commitInTurns }: ReadAhead<Message>,
    call: CompactCall,
    startsOver: boolean,
  ): Promise<ToldSession<Message>> {
    const { modelName } = call;
    let session = this.#session;
    if (session === undefined) {
      session = await this.#createSession(entries, call);
      if (modelName !== undefined) session.history.nameModel(modelName);
      this.#reportUsage(session, call);
      // Those of a session before it, of which another process may have been the host.
      this.#hasUnknownEdits = session.history.journal.count > 0;
      this.#session = session;
    } else {
      this.#reportUsage(session, call);
      if (modelName !== undefined) session.history.nameModel(modelName);
      if (startsOver) await session.goOnWith(entries);
      else session.history.addAll(entries);
      this.#hasUnknownEdits ||= startsOver;
    }
    return { session, commitInTurns };
  }

  async #makeReady(
    session: Session,
    { signal, cacheTtlMs }: CompactCall,
    passingTokens: number,
  ): Promise<void> {
    const view = this.#view;
    const promptId = `${session.sessionId}#${view.given.length}`;
    const { journal } = session.history;
    const mayBeUnknown = this.#hasUnknownEdits;
    this.#hasUnknownEdits = true;
    const { pruned, compressed, fitted } = await session.ensureCompressionBeforeSend(
      promptId,
      view.pinnedTokens + passingTokens,
      'adapter',
      { signal, cacheTtlMs: cacheTtlOfMessages(view.given, cacheTtlMs) },
    );
    const isAnother = session.history.journal !== journal;
    if (mayBeUnknown || isAnother || compressed?.outcome === 'applied') {
      await view.followInTurns(session.history.getAll());
    } else {
      for (const edit of [pruned, fitted]) if (edit !== null) view.applyChanges(edit.changes);
    }
    this.#hasUnknownEdits = false;
  }

  async #createSession(history: readonly IContent[], { reasoning }: CompactCall): Promise<Session> {
    const { compactor } = this.#parts;
    const options = this.#options;
    const session: Session = await compactor.createSession({
      edits: options.edits,
      minReclaimTokens: options.minReclaimTokens,
      cacheTtlMs: options.cacheTtlMs,
      reasoning: options.reasoning ?? reasoning,
      density: options.density,
      activeTodos: options.activeTodos && (() => this.#options.activeTodos?.() ?? []),
      overheadTokens: options.overheadTokens,
      removalLogDirectory: options.removalLogDirectory,
      canRecall: options.canRecall,
      compactByProvider:
        this.#parts.format.provider &&
        ((request) => compactHead(this.#view, session.history, this.#askProvider, request)),
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

  #reportUsage(session: Session, call: CompactCall): void {
    const report = usageReportOf(call);
    const takes = this.#options.overheadTokens === undefined ? 'reportCacheRead' : 'reportUsage';
    if (report !== undefined) session[takes](report);
    if (call.oddUsage) session.reportOddUsage(call.oddUsage);
  }

  /** Whether messages go on with the model's answer where a known list ended in a message that is gone. */
  #hasLostEnd(messages: readonly Message[], known: readonly Message[]): boolean {
    const at = known.length - 1;
    const [last, now] = [known[at], messages[at]];
    if (at < 1 || last === undefined || now === undefined || last === now) return false;
    // What one message says is found out sooner than whether all before it are the same.
    if (!mayHavePassed(this.#parts.format, last, now)) return false;
    return this.#beginningOf(messages, known.slice(0, at)) !== undefined;
  }

  /** Compares from the end: what goes on differs there first. */
  #beginningOf(
    messages: readonly Message[],
    known: readonly Message[],
  ): Beginning<Message> | undefined {
    const { length } = known;
    if (length === 0 || messages.length < length) return undefined;
    const found = this.#found;
    if (found?.messages === messages && found.known === known && found.length === length)
      return found;
    const varied: number[] = [];
    let firstOther = length;
    for (let at = length - 1; at >= 0; at -= 1) {
      const message = messages[at] as Message;
      const former = known[at] as Message;
      if (message === former) continue;
      firstOther = at;
      if (isPlainCopy(message, former)) continue;
      if (!this.#parts.format.isSame(message, former)) return undefined;
      varied.push(at);
    }
    this.#found = { messages, known, length, varied, firstOther };
    return this.#found;
  }
}

/** The messages, with those that are known already in the place of their copies. */
function withKnown<Message>(
  { known, varied }: Continuation<Message>,
  messages: readonly Message[],
): readonly Message[] {
  const { length } = known.places;
  const taken = [...known.messages.slice(0, length), ...messages.slice(length)];
  for (const at of varied) taken[at] = messages[at] as Message;
  return taken;
}
