// Shared by the plugins of hosts: a compactor with defaults for agents, created lazily by the first call. Each session of the host is
// one conversation, which continues after a restart. Independent of the host and of the message format.

import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { isFixableByCompacting } from '../../main/models/model-limits.js';
import { createCompactor } from '../../main/compactor.js';
import type { Compactor } from '../../main/compactor.js';
import type { CompactorOptions } from '../../main/compactor-options.js';
import { SILENT_LOGGER, safeLogger } from '../../main/host/logger.js';
import type { Logger } from '../../main/host/logger.js';
import { userStateFolder } from '../../main/host/state-folder.js';
import { directoryStore } from '../../main/state/directory-store.js';
import type { StateStore } from '../../main/state/state-store.js';
import { asError } from '../../shared/errors.js';
import type { CompactCall } from '../request/adapter-options.js';
import { reasoningOfHosted } from '../request/claude-reasoning.js';
import type { ConversationReport } from './conversation.js';
import { createMessageCompactor } from './message-compactor.js';
import type { MessageCompactor } from './message-compactor.js';
import type { MessageFormat } from '../format/message-format.js';
import { isSameList } from '../format/same-value.js';

/** Arguments of one call to a model. */
export interface HostCall extends Omit<CompactCall, 'conversationId' | 'compactByProvider'> {
  /** The host's id of the session. */
  readonly sessionId: string;
  /** Context window of the model, in tokens. */
  readonly contextLimit?: number | undefined;
}

/** Options of a compactor, and of its plugin. */
export interface HostOptions extends CompactorOptions {
  /** Whether the model has the tool `recall` of the plugin, so that placeholders may name it. @default true */
  readonly canRecall?: boolean;
}

const SETTINGS = { 'compression.density.placeholder': 'informative' } as const;

interface Opened<Message> {
  readonly compactor: Compactor;
  readonly compact: MessageCompactor<Message>;
}

/** State of a call while it runs. */
interface RunningCall {
  /** In tokens. Per call, because a host may give sessions of one model different windows, and run their calls concurrently. */
  readonly contextLimit: number | undefined;
  /** Why the messages of this call were not compacted. */
  failure?: string;
}

/** The compactor of one plugin. */
export class HostCompactor<Message> {
  readonly #name: string;
  readonly #format: MessageFormat<Message>;
  readonly #options: () => HostOptions;
  /** Created by the first call, and again by the first call after `close`. */
  #opened: Opened<Message> | undefined;
  /** Why the compactor could not be created. */
  #failure: string | undefined;
  readonly #running = new AsyncLocalStorage<RunningCall>();
  /** Session id → why its last call was not compacted. */
  readonly #failures = new Map<string, string>();
  /** By session, the provider's refusal of its last call, and the model that refused. */
  readonly #refusals = new Map<string, Pick<HostCall, 'refusal' | 'modelName'>>();
  /** Error of the state store, without which sessions do not continue after a restart. */
  #storeFailure: string | undefined;

  /**
   * @param name name of the host and of the folder of its states, because session ids are unique only within a host
   * @param options returns the options when the compactor is created: hosts do not know their folder earlier
   */
  constructor(name: string, format: MessageFormat<Message>, options: () => HostOptions) {
    this.#name = name;
    this.#format = format;
    this.#options = options;
  }

  /** Creates the compactor, unless there is one. @throws TypeError or RangeError for invalid options */
  open(): Opened<Message> {
    try {
      this.#opened ??= this.#create();
      this.#failure = undefined;
      return this.#opened;
    } catch (thrown) {
      this.#failure = asError(thrown).message;
      throw thrown;
    }
  }

  #create(): Opened<Message> {
    const { canRecall = true, ...options } = this.#options();
    const settings = { ...SETTINGS, ...options.settings };
    const contextLimit = (): number | undefined => this.#running.getStore()?.contextLimit;
    const { store = this.#ownStore() } = options;
    const compactor = createCompactor({ contextLimit, ...options, settings, store });
    const logger = this.#noting(options.logger);
    const compact = createMessageCompactor(compactor, this.#format, { canRecall, logger });
    return { compactor, compact };
  }

  /** Returns a logger for the adapter that also notes each error in the running call, as why that was not compacted. */
  #noting(logger: Logger = SILENT_LOGGER): Logger {
    const host = safeLogger(logger);
    const noting =
      (level: 'debug' | 'warn'): Logger['warn'] =>
      (message, details = {}) => {
        host[level](message, details);
        const running = this.#running.getStore();
        if (running && 'error' in details) running.failure = asError(details.error).message;
      };
    return { ...host, debug: noting('debug'), warn: noting('warn') };
  }

  /** Stores states without originals, because the host keeps these. `undefined` if the user has no home directory. */
  #ownStore(): StateStore | undefined {
    try {
      const store = directoryStore(join(userStateFolder(), this.#name));
      return {
        limits: store.limits,
        load: (key) => this.#watched(store.load(key)),
        save: (key, state, version) => this.#watched(store.save(key, state, version)),
        delete: (key) => this.#watched(store.delete(key)),
      };
    } catch (thrown) {
      this.#storeFailure = asError(thrown).message;
      return undefined;
    }
  }

  async #watched<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      const value = await answer;
      this.#storeFailure = undefined;
      return value;
    } catch (thrown) {
      this.#storeFailure = asError(thrown).message;
      throw thrown;
    }
  }

  /** Why the compactor could not be created. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /**
   * Returns the messages to send. Never rejects.
   *
   * @returns the same list if nothing is edited, or the signal is aborted; after a failure in ctxfold, messages without further edits
   */
  async compact(messages: readonly Message[], call: HostCall): Promise<readonly Message[]> {
    const {
      sessionId,
      contextLimit,
      reasoning = reasoningOfHosted(call.modelName),
      ...rest
    } = call;
    const running: RunningCall = { contextLimit };
    const refused = this.#refusals.get(sessionId);
    this.#refusals.delete(sessionId);
    // Another model may accept what the first one refused.
    const refusal = refused?.modelName === rest.modelName ? refused?.refusal : undefined;
    try {
      const { compact } = this.open();
      const compacted = await this.#running.run(running, () =>
        compact(messages, { ...rest, reasoning, refusal, conversationId: sessionId }),
      );
      this.#failures.delete(sessionId);
      if (running.failure !== undefined) this.#failures.set(sessionId, running.failure);
      return isSameList(compacted, messages) ? messages : compacted;
    } catch (thrown) {
      if (call.signal?.aborted !== true) this.#failures.set(sessionId, asError(thrown).message);
      return messages;
    }
  }

  /** Whether the compactor could not be created, or the last call of a session was not compacted because something failed. */
  isFailing(sessionId: string): boolean {
    return this.#failure !== undefined || this.#failures.has(sessionId);
  }

  /** Takes a provider's error, so that the session's next call to the same model is edited to avoid the same refusal. */
  reportRefusal(
    refusal: unknown,
    { sessionId, modelName }: Pick<HostCall, 'sessionId' | 'modelName'>,
  ): void {
    if (isFixableByCompacting(refusal)) this.#refusals.set(sessionId, { refusal, modelName });
  }

  /** The share of tokens saved in a session, such as `−43 %`; `undefined` before its first call. */
  saving(sessionId: string): string | undefined {
    const costs = this.#reportOf(sessionId)?.costs;
    return costs && percentLess(costs);
  }

  /** Tokens of messages that all calls of a session have sent so far; 0 before its first call. */
  sentTokens(sessionId: string): number {
    return this.#reportOf(sessionId)?.costs.sentTokens ?? 0;
  }

  /** Describes a session for its user, in lines of text. */
  status(sessionId: string): string {
    const report = this.#reportOf(sessionId);
    const failure = this.#failures.get(sessionId);
    const nothing = this.#failure ?? 'No call of this session was compacted yet.';
    const lines = report === undefined ? [nothing] : describe(report);
    if (failure !== undefined && failure !== nothing)
      lines.push(`The last call was not compacted: ${failure}`);
    if (this.#storeFailure !== undefined)
      lines.push(`After a restart this session would begin anew: ${this.#storeFailure}`);
    return ['ctxfold', ...lines].join('\n');
  }

  /** Closes the sessions and the worker threads. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.compactor.close();
  }

  #reportOf(sessionId: string): ConversationReport | undefined {
    const reports = this.#opened?.compact.report();
    return reports?.find((report) => report.sessionId === sessionId);
  }
}

type Costs = ConversationReport['costs'];

function percentLess({ sentTokens, uncompacted }: Costs): string {
  const share = uncompacted.sentTokens === 0 ? 1 : sentTokens / uncompacted.sentTokens;
  return `−${Math.round((1 - share) * 100)} %`;
}

function describe({ costs, givenMessages, sentMessages }: ConversationReport): string[] {
  const { requests, sentTokens, uncompacted, rewrites } = costs;
  const tokens = (count: number): string => count.toLocaleString('en-US');
  return [
    `${tokens(requests)} calls sent ${tokens(sentTokens)} tokens of messages instead of ` +
      `${tokens(uncompacted.sentTokens)} (${percentLess(costs)}).`,
    `The last one sent ${sentMessages} of ${givenMessages} messages. ` +
      `${tokens(rewrites)} edits rewrote what the prompt cache held.`,
  ];
}
