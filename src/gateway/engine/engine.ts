// Compacts request bodies: parses what is new in a body, runs the adapter of its API on the messages, and assembles the new body.
// Does not depend on the thread that it runs on. Sends nothing.

import { withBreakpointBefore } from '../../adapters/anthropic/cache-breakpoint.js';
import { cacheTtlOfRequest } from '../../adapters/anthropic/message-compactor.js';
import { cacheTtlIn, cacheTtlOfMessages } from '../../adapters/format/cache-marks.js';
import { reportedSum } from '../../adapters/request/call-arguments.js';
import { reasoningOfModel } from '../../adapters/request/claude-reasoning.js';
import { closeConversation } from '../../adapters/conversation/conversations.js';
import { createCompactor } from '../../main/compactor.js';
import {
  BOUND_REASONING,
  bindsReasoning,
  isFixableByCompacting,
} from '../../main/models/model-limits.js';
import type { Compactor } from '../../main/compactor.js';
import type { ReasoningPolicy } from '../../main/preflight/reasoning-policy.js';
import { SILENT_LOGGER } from '../../main/host/logger.js';
import type { Logger } from '../../main/host/logger.js';
import { openStore } from '../../main/state/open-store.js';
import type { OpenedStore } from '../../main/state/open-store.js';
import { asText } from '../../shared/json.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';
import { findList, readList, readMessages } from '../body/list-in-body.js';
import type { ListInBody } from '../body/list-in-body.js';
import { assemble, lengthOf, piecesOf, sentIn } from '../body/pieces.js';
import type { Pieces } from '../body/pieces.js';
import { SpareMemory } from '../body/spare-memory.js';
import { compactsOf, reasonOf } from './adapters.js';
import type { Compact } from './adapters.js';
import { apiNamed, isFromModel, KEPT_HISTORY, reasonToPass } from './apis.js';
import { compactOnce } from './compact-once.js';
import { conversationName, SIGNED_REQUEST } from './conversation-name.js';
import type { ApiName } from './apis.js';
import type { CompleteGatewayOptions } from '../server/options.js';
import { WatchedSession } from './watched-session.js';
import { TrackedConversations } from './tracked-conversations.js';
import type { TrackedConversation, TrackedRequest } from './tracked-conversations.js';
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

/** A request whose messages were read. */
interface ReadRequest extends TrackedRequest {
  readonly model: string | undefined;
  readonly reasoning: ReasoningPolicy | undefined;
  /** Whether the model refuses reasoning that follows other messages than those from which it produced it. */
  readonly bindsReasoning: boolean;
  /** The cache lifetime that the request asks for besides its messages. */
  readonly cacheTtlMs: number | undefined;
}

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
  readonly #written = new WeakMap<object, Buffer>();
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
    const { workspaceRoot } = this.#options;
    return compactOnce(Buffer.from(buffer, byteOffset, byteLength), workspaceRoot);
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
    const request = this.#read(call);
    if (typeof request === 'string') return passed(request);
    const { list, messages } = request;
    const reason = call.passes ?? reasonToPass(apiNamed(call.api), list.fields, messages.at(-1));
    if (reason === undefined) return this.#compactTurn(call, request);
    const isFixed = call.isObserved === true || NEVER_EDITED.has(reason);
    const conversation = isFixed ? undefined : this.#conversations.continuedBy(request);
    // If the conversation's last request was sent unedited, as before a switch to mode `compact`, this one is too.
    const isRaw =
      conversation === undefined || (request.bindsReasoning && conversation.hasBoundReasoning);
    return isRaw ? passed(reason) : this.#answerSideRequest(request, conversation);
  }

  /** Reads a request; returns the reason if it has to be passed on because it cannot be read. */
  #read(call: EngineCall): ReadRequest | string {
    try {
      return this.#readJson(call);
    } catch (thrown) {
      if (thrown instanceof SyntaxError) return 'a body that is not JSON';
      throw thrown;
    }
  }

  /** @throws SyntaxError if the body is not JSON */
  #readJson({ api: name, body, scope, ...call }: EngineCall): ReadRequest | string {
    const { list: path } = apiNamed(name);
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const start = findList(bytes, path);
    if (start === undefined) return 'no list of messages';
    const known = this.#conversations.knownStart(scope, bytes, start);
    const list = readList(bytes, start, path, known.elements);
    if (list === undefined) return 'a body that is not read';
    const messages = readMessages(list, known.messages);
    if (messages === undefined || messages.length === 0) return 'messages that are not read';
    const about = { scope, api: name, name: call.name ?? conversationName(list.fields) };
    const model = call.model ?? asText(list.fields['model']);
    const isAnthropic = name === 'anthropic';
    const reasoning = isAnthropic ? reasoningOfModel(model, list.fields['thinking']) : undefined;
    return {
      ...{ about, list, messages, known, model, reasoning },
      bindsReasoning: bindsReasoning(model) && reasoning !== 'keep',
      cacheTtlMs: isAnthropic ? cacheTtlOfRequest(list.fields) : cacheTtlIn(list.fields),
    };
  }

  /** Compacts a request that is a turn of its conversation. */
  async #compactTurn(call: EngineCall, request: ReadRequest): Promise<EngineAnswer> {
    const { list, messages, model, reasoning, cacheTtlMs } = request;
    const { conversation, ...how } = this.#conversations.record(request);
    const refusal = this.#refusalFor(call, request, conversation, how.isNew);
    const isAnthropic = call.api === 'anthropic';
    let changedFrom = 0;
    try {
      const compacted = await this.#compacts[call.api](messages, {
        conversationId: conversation.id,
        modelName: model,
        overheadTokens: tokensOfCharacters(list.bytes.length - (list.end - list.start)),
        answerUsage: (take) => (conversation.takeUsage = take),
        keepsCacheBefore: (index) => (changedFrom = index),
        ...{ cacheTtlMs, reasoning, refusal },
      });
      const sent = isAnthropic
        ? withBreakpointBefore(list.fields, compacted, changedFrom)
        : compacted;
      const pieces = piecesOf(list, messages, sent, this.#written, conversation.sent);
      const body = call.isObserved === true ? undefined : this.#assembled(list, pieces);
      this.#conversations.noteSent(
        conversation,
        body && pieces && sentIn(body, list, sent, pieces),
      );
      return {
        outcome: outcomeOf(pieces),
        body,
        editedBytes: pieces && lengthOf(pieces),
        conversation: stateOf(conversation, {
          ...how,
          model: shownModel(model),
          givenMessages: messages.length,
          sentMessages: compacted.length,
          cacheTtlMs: cacheTtlOfMessages(messages, cacheTtlMs),
          // Other APIs ignore such reasoning.
          bindsReasoning: request.bindsReasoning && isAnthropic,
        }),
        edits: conversation.watched?.takeEdits() ?? NO_EDITS,
      };
    } catch (thrown) {
      // The original body is sent.
      conversation.hasBoundReasoning = true;
      throw thrown;
    } finally {
      conversation.openCalls -= 1;
    }
  }

  /**
   * Returns what a request is to be treated as refused with: what its last attempt was refused with, and bound reasoning if the model
   * may have produced the reasoning in its messages from other messages. That applies to conversations with such reasoning, and to new
   * conversations that branch off from a conversation that lost some.
   */
  #refusalFor(
    { refusal, isObserved }: EngineCall,
    { bindsReasoning: isBinding, known }: ReadRequest,
    conversation: TrackedConversation,
    isNew: boolean,
  ): string | undefined {
    if (!isBinding || isObserved === true) return refusal;
    // With a store, another process may have begun the conversation, and the stored state tells.
    const isOfNobody = isNew && this.#opened === undefined && !known.messages.some(isFromModel);
    const drops =
      conversation.hasBoundReasoning || isOfNobody || (isNew && conversation.hasLostReasoning);
    conversation.hasBoundReasoning = false;
    conversation.hasLostReasoning ||= drops;
    return drops ? `${refusal ?? ''}\n${BOUND_REASONING}` : refusal;
  }

  /**
   * Sends messages in the form in which the conversation that they continue was last sent, with the new messages unedited. Unedited
   * as a whole, they might exceed the window, and reasoning is bound to what was sent.
   */
  async #answerSideRequest(
    { list, messages }: ReadRequest,
    conversation: TrackedConversation,
  ): Promise<EngineAnswer> {
    const sent = await this.#compacts[conversation.api].asSent(messages, {
      conversationId: conversation.id,
    });
    const pieces = piecesOf(list, messages, sent, this.#written);
    return {
      outcome: outcomeOf(pieces),
      body: this.#assembled(list, pieces),
      sideOf: conversation.watched && { id: conversation.id, name: conversation.name },
      edits: NO_EDITS,
    };
  }

  /** Assembles a new body in shared memory; `undefined` if nothing has changed. */
  #assembled({ bytes }: ListInBody, pieces: Pieces | undefined): Buffer | undefined {
    if (pieces === undefined) return undefined;
    const length = lengthOf(pieces);
    const body = assemble(bytes, pieces, this.#memory.take(length));
    this.#memory.prepare(length);
    return body;
  }

  /** Keeps warnings that carry an error; ignores all others. */
  #noteFailure(message: string, details: object | undefined): void {
    const { error } = (details ?? {}) as { readonly error?: unknown };
    if (error instanceof Error && this.#failures.length < MAX_FAILURES)
      this.#failures.push(`${message} (${reasonOf(error)})`);
  }
}

function outcomeOf(pieces: Pieces | undefined): EngineAnswer['outcome'] {
  return pieces === undefined ? 'unchanged' : 'edited';
}

/** Returns a model name that pages may show: clients choose it. */
function shownModel(model: string | undefined): string | undefined {
  return model !== undefined && PLAIN_MODEL.test(model) ? model : undefined;
}

function stateOf(
  { id, name, api, watched }: TrackedConversation,
  about: Omit<ConversationState, 'id' | 'name' | 'api' | 'costs' | 'contextLimit'>,
): ConversationState | undefined {
  if (watched === undefined) return undefined;
  const { contextLimit } = watched.session;
  return { ...{ id, name, api, ...about }, costs: watched.session.costs(), contextLimit };
}

function passed(reason: string): EngineAnswer {
  return { outcome: 'passed', reason, edits: NO_EDITS };
}
