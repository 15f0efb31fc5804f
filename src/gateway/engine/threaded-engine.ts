// Runs an engine on its own thread, so that parsing and compacting never delay answers that are being piped. A thread that dies or
// hangs is replaced; its pending calls are answered as failed.

import { Worker } from 'node:worker_threads';
import { settledWithin } from '../../main/waiting/abortable.js';
import type { EngineOptions } from './engine.js';
import type {
  AnsweredUsage,
  Engine,
  EngineAnswer,
  EngineCall,
  EngineReply,
  ConversationState,
  OnceAnswer,
} from './protocol.js';

/** A thread that has pending calls and does not answer for this long is considered hung and is terminated. */
const SILENCE_MS = 60_000;
/** Time for a thread to write pending state when it is closed. */
const CLOSING_MS = 5_000;
const ENDED: OnceAnswer = {
  status: 503,
  body: Buffer.from('the thread that reads such bodies has ended.'),
};
const FAILED: EngineAnswer = { outcome: 'failed', reason: 'the thread ended', edits: [] };

/** An engine that runs on its own thread, which does not keep the process alive. */
export class ThreadedEngine implements Engine {
  readonly #options: EngineOptions;
  /** Resolvers of pending calls, by id. They are called with `undefined` if the thread ends. */
  readonly #waiting = new Map<number, (value: unknown) => void>();
  #worker: Worker | undefined;
  #silence: NodeJS.Timeout | undefined;
  #asked = 0;
  #isClosed = false;

  constructor({
    maxConversations,
    contextLimit,
    workspaceRoot,
    removalLogDirectory,
    store,
  }: EngineOptions) {
    this.#options = { maxConversations, contextLimit, workspaceRoot, removalLogDirectory, store };
    this.#worker = this.#start();
  }

  async compact(call: EngineCall): Promise<EngineAnswer> {
    return (await this.#ask('compact', call)) ?? FAILED;
  }

  async compactOnce(body: Uint8Array): Promise<OnceAnswer> {
    return (await this.#ask('compactOnce', body)) ?? ENDED;
  }

  report({ id, costs }: Pick<ConversationState, 'id' | 'costs'>, usage: AnsweredUsage): void {
    void this.#ask('report', { id, costs }, usage);
  }

  reportRefusal(text: string, model: string | undefined, conversationId: string | undefined): void {
    void this.#ask('reportRefusal', text, model, conversationId);
  }

  noteBoundReasoning(conversationId: string): void {
    void this.#ask('noteBoundReasoning', conversationId);
  }

  original(conversationId: string, edit: number): Promise<string | undefined> {
    return this.#ask('original', conversationId, edit);
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    // A thread that was asked nothing has nothing to write, and may still be starting.
    const hasWritten = worker === undefined || this.#asked === 0 ? undefined : this.#ask('close');
    this.#isClosed = true;
    if (hasWritten !== undefined) {
      // Keeps the process alive until the thread has written its state.
      worker?.ref();
      await settledWithin(CLOSING_MS, hasWritten);
    }
    await worker?.terminate();
  }

  /** Resolves to the result of the method, or to `undefined` if the thread ends first or cannot be started. Never throws. */
  #ask<Method extends keyof Engine>(
    method: Method,
    ...given: Parameters<Engine[Method]>
  ): Promise<Awaited<ReturnType<Engine[Method]>> | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    let worker: Worker;
    try {
      worker = this.#worker ??= this.#start();
    } catch {
      // The system has no room for another thread. The next call tries again.
      return Promise.resolve(undefined);
    }
    const id = (this.#asked += 1);
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve as (value: unknown) => void);
      worker.postMessage({ id, method, arguments: given });
      if (this.#waiting.size === 1) this.#silence?.refresh();
      this.#silence ??= this.#watch();
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL('./engine-thread.js', import.meta.url), {
      workerData: this.#options,
    });
    worker.on('message', ({ id, value }: EngineReply) => {
      this.#waiting.get(id)?.(value);
      this.#waiting.delete(id);
      this.#silence?.refresh();
    });
    // Ignored: `exit` follows, which answers the pending calls as failed.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const resolve of this.#waiting.values()) resolve(undefined);
      this.#waiting.clear();
    });
    worker.unref();
    return worker;
  }

  #watch(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#silence = undefined;
      // The thread for which this timer was started may have been replaced: terminates the current one.
      if (this.#waiting.size > 0) void this.#worker?.terminate();
    }, SILENCE_MS).unref();
  }
}
