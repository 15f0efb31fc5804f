// Compacts request bodies: parses what is new in a body, runs the adapter of its API on the messages, and assembles the new body.
// Does not depend on the thread that it runs on. Sends nothing.

import { withBreakpointBefore } from '../../adapters/anthropic/cache-breakpoint.js';
import { messageCompactor, cacheTtlOfRequest } from '../../adapters/anthropic/message-compactor.js';
import type { AnthropicMessage } from '../../adapters/anthropic/message-part.js';
import type { CompactCall } from '../../adapters/request/adapter-options.js';
import { cacheTtlIn, cacheTtlOfMessages } from '../../adapters/format/cache-marks.js';
import { reportedSum } from '../../adapters/request/call-arguments.js';
import { reasoningOfModel } from '../../adapters/request/claude-reasoning.js';
import { closeConversation } from '../../adapters/conversation/conversations.js';
import type { CountingCompactor } from '../../adapters/conversation/message-compactor.js';
import { contentsCompactor } from '../../adapters/google/contents-compactor.js';
import { chatCompactor } from '../../adapters/openai/chat-compactor.js';
import { inputCompactor } from '../../adapters/openai/input-compactor.js';
import { createCompactor } from '../../main/compactor.js';
import {
  BOUND_REASONING,
  bindsReasoning,
  isFixableByCompacting,
} from '../../main/models/model-limits.js';
import type { Compactor } from '../../main/compactor.js';
import type { Session } from '../../main/session.js';
import { SILENT_LOGGER } from '../../main/host/logger.js';
import type { Logger } from '../../main/host/logger.js';
import { openStore } from '../../main/state/open-store.js';
import type { OpenedStore } from '../../main/state/open-store.js';
import { asError } from '../../shared/errors.js';
import { asText } from '../../shared/json.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';

import { findList, readList, readMessages } from '../body/list-in-body.js';
import type { ListInBody } from '../body/list-in-body.js';
import { assemble, lengthOf, piecesOf, sentIn } from '../body/pieces.js';
import type { Pieces, WrittenMessage } from '../body/pieces.js';
import { SpareMemory } from '../body/spare-memory.js';
import { apiNamed, isFromModel, KEPT_HISTORY } from './apis.js';
import { compactOnce } from './compact-once.js';
import type { CompactedList, OnceOptions, ReadList } from './compact-once.js';
import { conversationName, SIGNED_REQUEST } from './conversation-name.js';
import type { ApiName } from './apis.js';
import type { CompleteGatewayOptions } from '../server/options.js';
import { WatchedSession } from './watched-session.js';
import { TrackedConversations } from './tracked-conversations.js';
import type { TrackedConversation } from './tracked-conversations.js';
import type {
  AnsweredUsage,
  Engine,
  EngineAnswer,
  EngineCall,
  ConversationState,
  OnceAnswer,
} from './protocol.js';

/** The options of a gateway that its engine needs. */
export type EngineOptions = Pick<
  CompleteGatewayOptions,
  'maxConversations' | 'contextLimit' | 'workspaceRoot' | 'removalLogDirectory' | 'store'
>;

/** An adapter's function; only the adapter knows the format of the messages. */
type Compact = Pick<CountingCompactor<object>, 'asSent'> &
  ((messages: readonly object[], call: CompactCall) => Promise<readonly object[]>);

const PLAIN_MODEL = /^[\w./:@-]{1,100}$/;
const NO_EDITS: EngineAnswer['edits'] = [];
/** Reasons to pass on a request of which nothing may change. */
const NEVER_EDITED: ReadonlySet<string> = new Set([KEPT_HISTORY, SIGNED_REQUEST]);
/** Limit for the failures reported with one answer. */
const MAX_FAILURES = 20;

/** Creates an engine on the calling thread. @throws CtxfoldError `STORE_FAILED` if the store's package is not installed */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const { store } = options;
  return new LocalEngine(options, store === undefined ? undefined : await openStore(store));
}

class LocalEngine implements Engine {
  readonly #compactor: Compactor;
  readonly #compacts: Readonly<Record<ApiName, Compact>>;
  readonly #options: EngineOptions;
  readonly #conversations: TrackedConversations;
  readonly #opened: OpenedStore | undefined;
  /** The texts of edited messages, cached because later calls send them again. */
  readonly #written = new WeakMap<object, WrittenMessage>();
  readonly #memory = new SpareMemory();
  /** What the compactor has warned about since the last answer. */
  #failures: string[] = [];

  constructor(options: EngineOptions, opened: OpenedStore | undefined) {
    const { contextLimit, workspaceRoot, maxConversations, removalLogDirectory } = options;
    this.#options = options;
    this.#opened = opened;
    const store = opened?.store;
    // Inline: the engine usually runs on a thread of its own, and would only wait for another thread.
    const warn: Logger['warn'] = (message, details) => {
      this.#noteFailure(message, details);
    };
    const logger = { ...SILENT_LOGGER, warn };
    const created = { contextLimit, workspaceRoot, store, logger };
    this.#compactor = createCompactor({ ...created, offload: 'inline' });
    this.#conversations = new TrackedConversations(
      maxConversations,
      store !== undefined,
      ({ id }) => {
        // If the conversation comes back, it needs a new session, which `onSession` watches.
        closeConversation(this.#compactor, id);
      },
    );
    this.#compacts = compactsOf(this.#compactor, {
      maxConversations,
      removalLogDirectory,
      logger,
      onSession: (session) => {
        const conversation = this.#conversations.named(session.sessionId);
        if (conversation !== undefined) conversation.watched = new WatchedSession(session);
      },
    });
  }

  async compact(call: EngineCall): Promise<EngineAnswer> {
    const answer = await this.#compact(call).catch((thrown: unknown): EngineAnswer => ({
      outcome: 'failed',
      reason: reasonOf(thrown),
      edits: NO_EDITS,
    }));
    const failures = this.#failures;
    if (failures.length === 0) return answer;
    this.#failures = [];
    return { ...answer, failures };
  }

  compactOnce({ buffer, byteOffset, byteLength }: Uint8Array): Promise<OnceAnswer> {
    return compactOnce(Buffer.from(buffer, byteOffset, byteLength), (api, list, options) =>
      this.#compactList(api, list, options),
    );
  }

  report({ id, costs }: Pick<ConversationState, 'id' | 'costs'>, usage: AnsweredUsage): void {
    const { inputTokens, cacheReadTokens: read, cacheWriteTokens: written } = usage;
    const conversation = this.#conversations.named(id);
    // The next request may have been sent before the answer to this one ended: its usage no longer applies.
    if (conversation?.watched?.session.costs().requests !== costs.requests) return;
    conversation.takeUsage?.(reportedSum(inputTokens, read, written));
  }

  reportRefusal(text: string, model: string | undefined, id: string | undefined): void {
    this.#compactor.reportRefusal(text, model);
    const conversation = id === undefined ? undefined : this.#conversations.named(id);
    if (isFixableByCompacting(text)) conversation?.takeUsage?.({ refusal: text });
  }

  noteBoundReasoning(id: string): void {
    const conversation = this.#conversations.named(id);
    if (conversation !== undefined) conversation.hasBoundReasoning = true;
  }

  async original(id: string, edit: number): Promise<string | undefined> {
    return this.#conversations.named(id)?.watched?.original(edit);
  }

  async close(): Promise<void> {
    await this.#compactor.close();
    await this.#opened?.close();
  }

  async #compact(call: EngineCall): Promise<EngineAnswer> {
    const api = apiNamed(call.api);
    const { buffer, byteOffset, byteLength } = call.body;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const start = findList(bytes, api.list);
    if (start === undefined) return passed('no list of messages');
    const known = this.#conversations.knownStart(call.scope, bytes, start);
    const list = readList(bytes, start, api.list, known.elements);
    if (list === undefined) return passed('a body that is not read');
    const messages = readMessages(list, known.messages);
    if (messages === undefined || messages.length === 0)
      return passed('messages that are not read');
    const { scope, isCount = false } = call;
    const reason =
      call.passes ??
      (isCount ? 'a count of other messages' : api.passes(list.fields, messages.at(-1)));
    const about = { scope, api: api.name, name: call.name ?? conversationName(list.fields) };
    const model = call.model ?? asText(list.fields['model']);
    const isAnthropic = api.name === 'anthropic';
    const reasoning = isAnthropic ? reasoningOfModel(model, list.fields['thinking']) : undefined;
    const binds = bindsReasoning(model) && reasoning !== 'keep';
    if (reason !== undefined) {
      const isFixed = call.isObserved === true || NEVER_EDITED.has(reason);
      const conversation = isFixed
        ? undefined
        : this.#conversations.continuedBy(about, messages, known);
      // If the conversation's last request was sent unedited, as before a switch to mode `compact`, this one is too.
      const isRaw = conversation === undefined || (binds && conversation.hasBoundReasoning);
      return isRaw ? passed(reason) : this.#answerSideRequest(list, messages, conversation);
    }
    // Drops the other fields, which are not needed later.
    const { conversation, ...how } = this.#conversations.record(
      about,
      { ...list, fields: {} },
      messages,
      known,
    );
    const asked = isAnthropic ? cacheTtlOfRequest(list.fields) : cacheTtlIn(list.fields);
    const isUnknown = how.isNew && !known.messages.some(isFromModel);
    const removesReasoning =
      binds &&
      call.isObserved !== true &&
      this.#mustDropReasoning(conversation, how.isNew, isUnknown);
    let changedFrom = 0;
    const compacts = this.#compacts[api.name](messages, {
      conversationId: conversation.id,
      modelName: model,
      overheadTokens: tokensOfCharacters(bytes.length - (list.end - list.start)),
      answerUsage: (take) => (conversation.takeUsage = take),
      keepsCacheBefore: (index) => (changedFrom = index),
      cacheTtlMs: asked,
      reasoning,
      refusal: removesReasoning ? `${call.refusal ?? ''}\n${BOUND_REASONING}` : call.refusal,
    });
    const ended = compacts.finally(() => {
      conversation.openCalls -= 1;
    });
    const compacted = await ended.catch((thrown: unknown) => {
      conversation.hasBoundReasoning = true;
      throw thrown;
    });
    const sent = isAnthropic
      ? withBreakpointBefore(list.fields, compacted, changedFrom)
      : compacted;
    const pieces = piecesOf(list, messages, sent, this.#written, conversation.sent);
    const body = call.isObserved === true ? undefined : pieces && this.#assemble(bytes, pieces);
    conversation.sent = body && pieces && sentIn(body, list, sent, pieces);
    return {
      outcome: pieces === undefined ? 'unchanged' : 'edited',
      body,
      editedBytes: pieces && lengthOf(pieces),
      conversation: reportOf(conversation, messages, compacted, {
        ...{ model, ...how },
        cacheTtlMs: cacheTtlOfMessages(messages, asked),
        // Other APIs ignore such reasoning.
        bindsReasoning: binds && isAnthropic,
      }),
      edits: conversation.watched?.takeEdits() ?? NO_EDITS,
    };
  }

  /**
   * Whether a request must be sent without the reasoning in its messages, because the model may have produced that reasoning from
   * other messages. Applies to conversations with such reasoning, and to new conversations that branch off from a conversation that lost some.
   *
   * @param isUnknown whether the conversation is new and no answer in its messages was seen before
   */
  #mustDropReasoning(
    conversation: TrackedConversation,
    isNew: boolean,
    isUnknown: boolean,
  ): boolean {
    // With a store, another process may have begun the conversation, and the stored state tells.
    const isOfNobody = isUnknown && this.#opened === undefined;
    const takes =
      conversation.hasBoundReasoning || isOfNobody || (isNew && conversation.hasLostReasoning);
    conversation.hasBoundReasoning = false;
    conversation.hasLostReasoning ||= takes;
    return takes;
  }

  /**
   * Sends messages in the form in which the conversation that they continue was last sent, with the new messages unedited. Unedited
   * as a whole, they might exceed the window, and reasoning is bound to what was sent.
   */
  async #answerSideRequest(
    list: ListInBody,
    messages: readonly object[],
    conversation: TrackedConversation,
  ): Promise<EngineAnswer> {
    const sent = await this.#compacts[conversation.api].asSent(messages, {
      conversationId: conversation.id,
    });
    const pieces = piecesOf(list, messages, sent, this.#written);
    const about = {
      ...{ model: undefined, cacheTtlMs: undefined },
      ...{ bindsReasoning: false, isNew: false, isRewritten: false },
    };
    return {
      outcome: pieces === undefined ? 'unchanged' : 'edited',
      isSideRequest: true,
      body: pieces && this.#assemble(list.bytes, pieces),
      conversation: reportOf(conversation, messages, sent, about),
      edits: NO_EDITS,
    };
  }

  /** Assembles a new body in shared memory. */
  #assemble(bytes: Buffer, pieces: Pieces): Buffer {
    const length = lengthOf(pieces);
    const body = assemble(bytes, pieces, this.#memory.take(length));
    this.#memory.prepare(length);
    return body;
  }

  async #compactList(
    api: ApiName,
    { list, messages }: ReadList,
    { model: modelName, contextLimit }: OnceOptions,
  ): Promise<CompactedList> {
    const { workspaceRoot } = this.#options;
    const compactor = createCompactor({ contextLimit, workspaceRoot, offload: 'inline' });
    try {
      let session: Session | undefined;
      const compacts = compactsOf(compactor, {
        // These messages will not be sent again, so there is no prompt cache to preserve.
        edits: 'every-turn',
        onError: 'throw',
        onSession: (made) => {
          session = made;
        },
      });
      const compacted = await compacts[api](messages, { modelName });
      const { sentTokens: tokensAfter = 0, uncompacted } = session?.costs() ?? {};
      const tokensBefore = uncompacted?.sentTokens ?? 0;
      return { text: textOfList(list, messages, compacted), tokensBefore, tokensAfter };
    } catch (thrown) {
      const text = list.bytes.subarray(list.start, list.end);
      return { text, tokensBefore: 0, tokensAfter: 0, error: reasonOf(thrown) };
    } finally {
      await compactor.close();
    }
  }

  /** Keeps warnings that carry an error; ignores all others. */
  #noteFailure(message: string, details: object | undefined): void {
    const { error } = (details ?? {}) as { readonly error?: unknown };
    if (error instanceof Error && this.#failures.length < MAX_FAILURES)
      this.#failures.push(`${message} (${reasonOf(error)})`);
  }
}

function reportOf(
  { id, name, api, watched }: TrackedConversation,
  given: readonly object[],
  sent: readonly object[],
  about: Pick<
    ConversationState,
    'model' | 'bindsReasoning' | 'isNew' | 'isRewritten' | 'cacheTtlMs'
  >,
): ConversationState | undefined {
  if (watched === undefined) return undefined;
  const { model } = about;
  return {
    ...{ id, name, api, ...about },
    // Clients choose the model name, and pages show it.
    model: model !== undefined && PLAIN_MODEL.test(model) ? model : undefined,
    givenMessages: given.length,
    sentMessages: sent.length,
    costs: watched.session.costs(),
    contextLimit: watched.session.contextLimit,
  };
}

function compactsOf(
  compactor: Compactor,
  options: Parameters<typeof chatCompactor>[1],
): Readonly<Record<ApiName, Compact>> {
  const gemini = contentsCompactor(compactor, options) as unknown as Compact;
  return {
    anthropic: messageCompactor<AnthropicMessage>(compactor, options) as unknown as Compact,
    responses: inputCompactor(compactor, options) as unknown as Compact,
    chat: chatCompactor(compactor, options) as unknown as Compact,
    gemini,
    'code-assist': gemini,
  };
}

/** The text of a list of messages after compaction. */
function textOfList(
  list: ListInBody,
  messages: readonly object[],
  compacted: readonly object[],
): Uint8Array {
  const { bytes, start, end } = list;
  const pieces = piecesOf(list, messages, compacted, new WeakMap());
  const body = pieces === undefined ? bytes : assemble(bytes, pieces);
  return body.subarray(start, body.length - (bytes.length - end));
}

function passed(reason: string): EngineAnswer {
  return { outcome: 'passed', reason, edits: NO_EDITS };
}

/** Name and code of an error, without its message, which may quote content. */
function reasonOf(thrown: unknown): string {
  const error = asError(thrown);
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? `${error.name} ${code}` : error.name;
}
