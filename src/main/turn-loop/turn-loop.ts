// A complete turn loop over one session: the user's message, then preflight, model and tools until the model calls no more tools.
// One message at a time.

import { humanText, toolContent, withResult } from '../../shared/content.js';
import type { IContent, ToolResponseBlock } from '../../shared/content.js';
import { asError, CtxfoldError } from '../../shared/errors.js';
import { assertIngestible } from '../../shared/ingestion.js';
import {
  asObject,
  assertCount,
  assertFunction,
  assertSignal,
  assertString,
  assertTokens,
  isInstance,
  kindOf,
  readOptions,
} from '../../shared/misuse.js';
import type { Checks } from '../../shared/misuse.js';
import type { PreflightResult } from '../preflight/session-events.js';
import { Session } from '../session.js';
import { abortable, Deferred, limitSignal } from '../waiting/abortable.js';
import type { ChatChunk, ChatModel, ToolHandlers } from './chat-model.js';
import { ResponseBuilder } from './response-builder.js';
import { runTools } from './run-tools.js';

export interface TurnLoopOptions {
  readonly session: Session;
  readonly model: ChatModel;
  /** @default none */
  readonly tools?: ToolHandlers;
  /** Maximum number of model calls per message. @default 100 */
  readonly maxModelCalls?: number;
  /** Timeout of a model call, in milliseconds. @default 600_000 */
  readonly modelTimeoutMs?: number;
  /** Timeout of all tools of one response together, in milliseconds. @default 600_000 */
  readonly toolTimeoutMs?: number;
  /**
   * Tokens that a request holds besides the history and the session's `overheadTokens`. Room for the answer is not sent: if the
   * model reports usage, reduce `contextLimit` by it instead. @default 0
   */
  readonly pendingTokens?: number;
}

/** Options for sending one message. */
export interface SendOptions {
  /** Names the turn. @default a counter */
  readonly promptId?: string;
  readonly signal?: AbortSignal;
}

/** What happens while a message is answered, in this order; the middle part repeats for each model call. */
export type TurnEvent =
  | { readonly type: 'user-message'; readonly content: IContent }
  | { readonly type: 'preflight'; readonly result: PreflightResult }
  | { readonly type: 'chunk'; readonly chunk: ChatChunk }
  | { readonly type: 'response'; readonly content: IContent }
  | { readonly type: 'tool-responses'; readonly content: IContent }
  | { readonly type: 'end'; readonly reason: TurnEnd };

/** Why a turn ended: the model called no tool, said nothing (or only thought), or may not be called again. */
export type TurnEnd = 'answered' | 'empty' | 'max-model-calls';

/** The outcome of a message. */
export interface TurnResult {
  /** The model's last response, or `null` if it said nothing. */
  readonly response: IContent | null;
  readonly reason: TurnEnd;
  readonly modelCalls: number;
}

const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_MAX_MODEL_CALLS = 100;

const CHECKS: Checks<TurnLoopOptions> = {
  session: null,
  model: null,
  tools: (name, value) => void asObject(value, name, 'an object'),
  maxModelCalls: assertCount,
  modelTimeoutMs: assertCount,
  toolTimeoutMs: assertCount,
  pendingTokens: assertTokens,
};

const SEND_CHECKS: Checks<SendOptions> = {
  promptId: assertString,
  signal: assertSignal,
};

/** Sends messages to a model, with its tools and session. */
export class TurnLoop {
  readonly session: Session;
  readonly #options: TurnLoopOptions;
  #turns = 0;
  /** Settles when the current message has been answered. */
  #current: Promise<void> = Promise.resolve();

  /** @throws TypeError for an option of a wrong type; RangeError for a number out of range or an unknown option. */
  constructor(given: TurnLoopOptions) {
    const options = readOptions('turn loop options', given, CHECKS);
    if (!isInstance(options.session, Session)) {
      throw new TypeError(
        `Expected session to be one of a compactor, got ${kindOf(options.session)}.`,
      );
    }
    assertFunction('stream of the model', asObject(options.model, 'model', 'an object')['stream']);
    this.session = options.session;
    this.#options = options;
  }

  /**
   * Sends a message and resolves when it is fully answered.
   *
   * @throws the signal's reason, what the model threw, what the preflight throws, and a CtxfoldError with code `TURN_TIMEOUT` if
   *   the model takes longer than `modelTimeoutMs`. The history stays valid: unanswered calls get an error as their response.
   */
  async sendMessage(message: string | IContent, options: SendOptions = {}): Promise<TurnResult> {
    let response: IContent | null = null;
    let reason: TurnEnd = 'empty';
    let modelCalls = 0;
    for await (const event of this.sendMessageStream(message, options)) {
      if (event.type === 'preflight') modelCalls += 1;
      else if (event.type === 'response') response = event.content;
      else if (event.type === 'end') reason = event.reason;
    }
    return { response, reason, modelCalls };
  }

  /**
   * Sends a message and yields what happens. Waits until an earlier message is answered. Ending the iteration ends the turn.
   *
   * @throws as `sendMessage` does.
   */
  async *sendMessageStream(
    message: string | IContent,
    options: SendOptions = {},
  ): AsyncGenerator<TurnEvent, void, undefined> {
    const read = readOptions('options of a message', options, SEND_CHECKS);
    this.#turns += 1;
    const { promptId = `turn-${this.#turns}`, signal } = read;
    const before = this.#current;
    const ended = new Deferred<void>();
    this.#current = before.then(() => ended.promise);
    try {
      await abortable(before, signal);
      yield* this.#runTurn(message, promptId, signal);
    } finally {
      ended.resolve();
    }
  }

  async *#runTurn(
    message: string | IContent,
    promptId: string,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<TurnEvent, void, undefined> {
    const { session } = this;
    const { model, pendingTokens = 0, maxModelCalls = DEFAULT_MAX_MODEL_CALLS } = this.#options;
    const content =
      typeof message === 'string' ? humanText(message, { timestamp: Date.now() }) : message;
    session.history.add(content, model.name);
    yield { type: 'user-message', content };

    for (let modelCalls = 0; modelCalls < maxModelCalls; modelCalls += 1) {
      const result = await session.ensureCompressionBeforeSend(promptId, pendingTokens, 'turn', {
        signal,
      });
      yield { type: 'preflight', result };

      const response = new ResponseBuilder();
      for await (const chunk of this.#stream(promptId, signal)) {
        response.add(chunk);
        yield { type: 'chunk', chunk };
      }
      // Report before the response is added: the usage is that of the history as sent.
      const { inputTokens } = response;
      if (inputTokens !== undefined) session.reportUsage({ inputTokens, modelName: model.name });
      const said = response.build(model.name);
      if (said === undefined) {
        yield { type: 'end', reason: 'empty' };
        return;
      }
      session.history.add(said, model.name);
      if (response.calls.length === 0) {
        yield { type: 'response', content: said };
        yield { type: 'end', reason: 'answered' };
        return;
      }
      // Start the tools before the next yield: a reader that stops there must not leave calls without a response.
      const answering = this.#answer(response, signal);
      // It is awaited only once the reader continues. Until then its rejection, if the session was closed, must not be unhandled.
      answering.catch(() => undefined);
      yield* this.#reportCalls(said, answering);
      signal?.throwIfAborted();
    }
    yield { type: 'end', reason: 'max-model-calls' };
  }

  async *#reportCalls(
    said: IContent,
    answering: Promise<IContent>,
  ): AsyncGenerator<TurnEvent, void, undefined> {
    try {
      yield { type: 'response', content: said };
    } finally {
      await answering;
    }
    yield { type: 'tool-responses', content: await answering };
  }

  /** Streams one response; ends at the deadline even if the model ignores the signal. */
  async *#stream(
    promptId: string,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<ChatChunk, void, undefined> {
    const { model, modelTimeoutMs = DEFAULT_TIMEOUT_MS } = this.#options;
    const limited = limitSignal(modelTimeoutMs, signal, timeoutOf('model', modelTimeoutMs));
    const contents = this.session.history.getCurated();
    let chunks: AsyncIterator<ChatChunk> | undefined;
    let isDone = false;
    try {
      const stream = model.stream({ contents, promptId, signal: limited.signal });
      chunks = stream[Symbol.asyncIterator]();
      for (;;) {
        const next = await abortable(chunks.next(), limited.signal);
        isDone = next.done === true;
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      // Not awaited: a model that ignores the signal would block here.
      if (!isDone) void endIteration(chunks);
      limited.stop();
    }
  }

  async #answer(response: ResponseBuilder, signal: AbortSignal | undefined): Promise<IContent> {
    const { model, tools = {}, toolTimeoutMs = DEFAULT_TIMEOUT_MS } = this.#options;
    const limited = limitSignal(toolTimeoutMs, signal, timeoutOf('tools', toolTimeoutMs));
    try {
      const responses = await runTools(response.calls, tools, limited.signal);
      return this.#addResponses(responses, model.name);
    } finally {
      limited.stop();
    }
  }

  /**
   * Adds the responses. One that the history cannot hold is replaced by the reason. If it can hold each response but not all of
   * them together, all are replaced.
   */
  #addResponses(responses: readonly ToolResponseBlock[], modelName: string | undefined): IContent {
    const add = (taken: readonly ToolResponseBlock[]): IContent => {
      const content = toolContent(taken, { timestamp: Date.now() });
      this.session.history.add(content, modelName);
      return content;
    };
    try {
      return add(responses);
    } catch (thrown) {
      const alone = responses.map((response) => refusalOf(response) ?? response);
      const isOneRefused = alone.some((response, at) => response !== responses[at]);
      return add(isOneRefused ? alone : responses.map((response) => refused(response, thrown)));
    }
  }
}

/** Returns the replacement of a response that no history can hold; `undefined` if a history can hold the response. */
function refusalOf(response: ToolResponseBlock): ToolResponseBlock | undefined {
  try {
    assertIngestible(toolContent([response]), 0);
    return undefined;
  } catch (thrown) {
    return refused(response, thrown);
  }
}

function refused(response: ToolResponseBlock, thrown: unknown): ToolResponseBlock {
  const error = response.error ?? `The result was not taken: ${asError(thrown).message}`;
  return { ...withResult(response, null), error };
}

/** Ends an iteration early. Never rejects, although the iterator may be custom code that throws. */
async function endIteration(chunks: AsyncIterator<unknown> | undefined): Promise<void> {
  try {
    await chunks?.return?.();
  } catch {
    // After an early end, an error of the iterator is irrelevant.
  }
}

function timeoutOf(what: string, timeoutMs: number): () => Error {
  const message = `The ${what} gave no answer within ${timeoutMs} ms.`;
  return () => {
    const error = new CtxfoldError(message, 'TURN_TIMEOUT');
    // As the platform calls it: hosts tell a timeout of `AbortSignal` by this name.
    error.name = 'TimeoutError';
    return error;
  };
}
