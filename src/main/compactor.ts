// The front door: validates the options once, owns the worker pool, creates sessions.

import { randomUUID } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { indexedAgentOf } from '../shared/density/index/index-scope.js';
import { CtxfoldError, SummarizerError } from '../shared/errors.js';
import { withoutUndefined } from '../shared/json.js';
import { assertString } from '../shared/misuse.js';
import { ANY_TOOL, DEFAULT_TOOL_CATALOG } from '../shared/tool-catalog.js';
import { completeCompactorOptions } from './compactor-options.js';
import type { CompactorOptions, CompleteCompactorOptions } from './compactor-options.js';
import type { CompactorStats, CompactorStatus } from './compactor-status.js';
import { HistoryService } from './history-service.js';
import { askHost } from './host/ask-host.js';
import type { Logger } from './host/logger.js';
import { ModelLimits, usualTokenRatio } from './models/model-limits.js';
import { ModelPrices } from './models/model-prices.js';
import { SessionModel } from './models/session-model.js';
import { InlineOffload } from './offload/inline.js';
import { OffloadMeter, FallbackNotice } from './offload/offload-meter.js';
import type { FallbackEvent, Offload } from './offload/offload.js';
import { ResidentHost } from './offload/resident-host.js';
import {
  MIN_RESIDENT_ENTRIES,
  MIN_RESIDENT_ENTRIES_UNCOUNTED,
  ResidentOffload,
} from './offload/resident.js';
import { SnapshotOffload } from './offload/snapshot.js';
import { WorkerPool } from './offload/worker-pool.js';
import { OPTION_PLACES } from './option-places.js';
import { completeEditOptions } from './preflight/edit-options.js';
import type { CompressionInputs } from './strategies/strategy.js';
import type { SessionInit } from './preflight/session-parts.js';
import { PromptResolver } from './prompts/prompt-resolver.js';
import { restoreLatest } from './removal-log/restore-latest.js';
import type { OpenSession, RestoreOptions } from './removal-log/restore-latest.js';
import type { RestoredResponse } from './removal-log/restore.js';
import { openSessionLog } from './removal-log/session-log.js';
import { assertSessionId } from './removal-log/session-scope.js';
import { sessionDefaults, readSessionOptions, removalLogPathOf } from './session-options.js';
import type { SessionOptions } from './session-options.js';
import { Session } from './session.js';
import { createAgentRuntimeContext, SessionConfig } from './settings/session-config.js';
import { Settings } from './settings/settings.js';
import { resolveStore } from './state/directory-store.js';
import { addInTurns } from './state/resume.js';
import { SessionStates } from './state/session-states.js';
import { getCompressionStrategy } from './strategies/registry.js';
import { isSummarizer } from './summarizer/summarizer.js';
import { askForTodos } from './summarizer/ask-for-todos.js';
import { TokenCalibration } from './tokens/token-calibration.js';
import { createCountEntries } from './tokens/token-counter.js';
import { settledWithin } from './waiting/abortable.js';
import { setImmediate } from './waiting/event-loop-turn.js';

/** How long `close` waits for sessions that are being created. */
const START_TIMEOUT_MS = 5_000;

/** Owns what sessions share, and creates them. */
export interface Compactor extends AsyncDisposable {
  /** The logger, guarded against its errors. Adapters use it, too. */
  readonly logger: Logger;
  /**
   * Creates a session. Yields to the event loop while it loads a long history.
   *
   * @throws TypeError for an entry that a history cannot hold; TypeError or RangeError for invalid options; `CtxfoldError`
   *   `CLOSED`, or the reason why the removal log or the prompt could not be opened.
   */
  createSession(options?: SessionOptions): Promise<Session>;
  /**
   * Returns what a tool answered before an edit removed it, as `restore` of the named session does: from the store, also if it is not
   * open here, or from its removal log, including what earlier sessions with that id recorded there. With `acrossSessions: true`, searches the removal logs
   * of all open sessions; meant for hosts whose sessions all belong to one user. If several calls have the id, the most recently recorded one is
   * returned.
   *
   * @throws TypeError unless a session is named or `acrossSessions` is set; CtxfoldError `NOT_IN_REMOVAL_LOG` if nothing holds
   *   it, `SESSION_AMBIGUOUS` if several open sessions have the id, `REMOVAL_LOG_READ_FAILED` if a log that might hold it could
   *   not be read.
   */
  restore(callId: string, options: RestoreOptions): Promise<RestoredResponse>;
  /**
   * Takes the error of a model call, or the text of a refusal. If the provider rejected a prompt as too long and named its limit,
   * all sessions with that model use the limit from then on, if `contextLimit` is not lower. Middleware calls this itself; call
   * it in the `catch` of your own model calls.
   *
   * @returns the limit in tokens, or `undefined` if the error is of another kind
   */
  reportRefusal(thrown: unknown, modelName?: string): number | undefined;
  /** The effective configuration. */
  status(): CompactorStatus;
  /** Totals over all sessions, open and closed, and the state of the threads. */
  stats(): CompactorStats;
  /**
   * Closes all sessions and stops the worker threads. Final and idempotent; resolves within about a second, or five if a
   * preflight waits for a model or a disk. Abort such a preflight to end it at once.
   */
  close(): Promise<void>;
}

/**
 * Creates a compactor. Threads start with the first work for them and do not keep the process alive; a summary that a turn waits
 * for does, until `close`.
 *
 * @throws TypeError if `options` is not an object; RangeError naming each invalid option.
 */
export function createCompactor(options: CompactorOptions = {}): Compactor {
  const complete = completeCompactorOptions(options, OPTION_PLACES);
  const compactor = new ThreadedCompactor(complete);
  complete.logger.debug('a compactor starts', compactor.status());
  return compactor;
}

class ThreadedCompactor implements Compactor {
  readonly #options: CompleteCompactorOptions;
  readonly #pool: WorkerPool | undefined;
  readonly #meter = new OffloadMeter();
  readonly #host: ResidentHost | undefined;
  /** The open sessions, each with its removal log. */
  readonly #sessions = new Map<Session, OpenSession>();
  /** Sessions that are being created. They may hold a removal log already. */
  readonly #starting = new Set<Promise<Session>>();
  /** Shared, so that one session's observations of a model serve all others. */
  readonly #calibration: TokenCalibration;
  readonly #states: SessionStates;
  readonly #notice: FallbackNotice;
  readonly #limits: ModelLimits;
  readonly #prices: ModelPrices;
  #closing: Promise<void> | undefined;

  constructor(options: CompleteCompactorOptions) {
    this.#options = options;
    const startsUncalibrated =
      options.preset === 'specification' || typeof options.tokenizer !== 'string';
    this.#calibration = new TokenCalibration(startsUncalibrated ? undefined : usualTokenRatio);
    const store = resolveStore(options.store);
    this.#states = new SessionStates({ ...options, store, calibration: this.#calibration });
    this.#notice = new FallbackNotice(options.logger);
    this.#limits = new ModelLimits(options.contextLimit, options.logger);
    this.#prices = new ModelPrices(options.prices, options.logger);
    if (options.offload === 'inline') return;
    this.#pool = new WorkerPool({ threads: options.threads });
    this.#host = new ResidentHost(this.#pool, options.maxResidentSessions);
  }

  get logger(): Logger {
    return this.#options.logger;
  }

  async createSession(given: SessionOptions = {}): Promise<Session> {
    this.#assertOpen();
    const options = readSessionOptions(given, OPTION_PLACES);
    const { sessionId = randomUUID() } = options;
    assertSessionId(sessionId);
    const removalLogPath = removalLogPathOf(options, sessionId);
    const overheadTokens = options.overheadTokens ?? this.#options.overheadTokens;
    const config = this.#configure({ ...options, removalLogPath });
    let session: Session | undefined;
    /** Fallbacks reported while the history moves in, before anyone can listen to the session. */
    const early: FallbackEvent[] = [];
    const onFallback = (event: FallbackEvent): void => {
      this.#notice.warn(event);
      if (session === undefined) early.push(event);
      else session.reportFallback(event);
    };
    const meter = new OffloadMeter(sessionId, onFallback, this.#meter);
    const offload = this.#createOffload(meter, config);
    const starting = this.#startSession(
      { ...options, removalLogPath, overheadTokens },
      { sessionId, config, offload, meter },
    );
    this.#starting.add(starting);
    try {
      const started = await starting;
      session = started;
      setImmediate(() => {
        for (const event of early) started.reportFallback(event);
      });
      return started;
    } catch (error) {
      offload.close?.();
      throw error;
    } finally {
      this.#starting.delete(starting);
    }
  }

  /** Makes the configuration of a session from its options and the compactor's defaults. */
  #configure(options: SessionOptions): SessionConfig {
    const { workspaceRoot, preset } = this.#options;
    const defaults = sessionDefaults(preset);
    const edits = completeEditOptions({ ...options, edits: options.edits ?? defaults.edits });
    const densityOptions = { workspaceRoot, ...defaults.density, ...options.density };
    const settings = new Settings(this.#options.settings, this.#options.profile);
    const model = new SessionModel({
      limits: this.#limits,
      priceOf: (modelName) => this.#prices.of(modelName),
      cacheTtlMs: edits.cacheTtlMs,
    });
    const canRecall = options.canRecall === true || options.removalLogPath !== undefined;
    return new SessionConfig({
      settings,
      runtimeContext: createAgentRuntimeContext(
        settings,
        model.contextLimit,
        canRecall,
        defaults.ahead,
      ),
      densityOptions,
      edits,
      model,
      resolveStrategy: getCompressionStrategy,
      isForAgents: defaults.isForAgents,
    });
  }

  /** Opens the resources of a session, and adds its initial entries. */
  async #startSession(
    { history: restored = [], removalLogPath, activeTodos, ...options }: SessionOptions,
    {
      sessionId,
      config,
      offload,
      meter,
    }: Pick<SessionInit, 'sessionId' | 'config' | 'offload' | 'meter'>,
  ): Promise<Session> {
    const { logger, tokenizer, store } = this.#options;
    const { edits } = config.edits;
    const history = new HistoryService({
      countEntries: createCountEntries(tokenizer, offload),
      logger,
      keepsAdded: store !== undefined,
    });
    if (offload.noteChange !== undefined) history.watch(offload.noteChange);
    const { taken, memory, report, keeper } = await this.#states.begin(history, {
      state: options.state,
      given: restored,
      conversationId: options.sessionId,
      edits,
      toolCatalog: config.densityOptions.toolCatalog,
    });
    const compressionPrompt = await this.#resolvePrompt();
    this.#assertOpen();
    const removalLog =
      removalLogPath === undefined
        ? undefined
        : await openSessionLog({ path: removalLogPath, sessionId, logger });
    const session: Session = new Session({
      sessionId,
      config,
      history,
      offload,
      meter,
      logger,
      removalLog,
      keeper,
      overheadTokens: options.overheadTokens,
      compactByProvider: options.compactByProvider,
      now: options.now,
      ownCatalog: options.density?.toolCatalog,
      calibration: this.#calibration,
      countsAreEstimates: tokenizer === 'estimate' ? () => true : this.#notice.hasWarnedOfEstimates,
      compressionInputs: () =>
        withoutUndefined({
          summarizer: this.#summarizerOf(config.runtimeContext.ephemerals.compressionProfile()),
          compressionPrompt,
          activeTodos: activeTodos && askForTodos(activeTodos),
          transcriptPath: removalLog?.path,
        }),
      wasSentBefore: memory === undefined && restored.some(({ speaker }) => speaker === 'ai'),
      former: memory,
      onClose: async () => {
        offload.close?.();
        this.#sessions.delete(session);
        if (this.#closing !== undefined) return;
        await this.#states.end(history, edits, () => session.snapshot());
      },
    });
    try {
      await addInTurns(history, restored, taken);
    } catch (error) {
      // Closes the removal log: while it is open, no other session can write it.
      await session.close();
      throw error;
    }
    if (report !== undefined) setImmediate(() => session.reportState(report));
    const directory = removalLogPath === undefined ? undefined : dirname(resolve(removalLogPath));
    const restore = (callId: string): Promise<RestoredResponse> => session.restore(callId);
    this.#sessions.set(session, { sessionId, removalLog, directory, restore });
    if (this.#closing !== undefined) await session.close();
    this.#assertOpen();
    return session;
  }

  restore(callId: string, options: RestoreOptions): Promise<RestoredResponse> {
    return restoreLatest([...this.#sessions.values()], callId, options, this.#states);
  }

  reportRefusal(thrown: unknown, modelName?: string): number | undefined {
    if (modelName !== undefined) assertString('modelName', modelName);
    return this.#limits.learn(thrown, modelName);
  }

  status(): CompactorStatus {
    const { preset, offload, tokenizer, contextLimit, store } = this.#options;
    const { toolCatalog = DEFAULT_TOOL_CATALOG } = sessionDefaults(preset).density;
    const open = [...this.#sessions.values()];
    return {
      preset: preset ?? 'agents',
      offload,
      threads: this.#pool?.threads ?? 0,
      tokens: typeof tokenizer === 'string' ? tokenizer : 'own',
      tools: Object.keys(toolCatalog).filter((name) => name !== ANY_TOOL).length,
      contextLimit: typeof contextLimit === 'number' ? contextLimit : 'by-model',
      learnedLimits: this.#limits.learned,
      store: typeof store === 'string' ? 'directory' : store === undefined ? 'none' : 'own',
      sessions: open.length,
      removalLogs: open.filter(({ removalLog }) => removalLog !== undefined).length,
    };
  }

  stats(): CompactorStats {
    return {
      ...this.#meter.stats,
      sessions: this.#sessions.size,
      residents: this.#host?.stats ?? null,
      pool: this.#pool?.stats ?? null,
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #shutDown(): Promise<void> {
    // A session that is being created closes itself.
    const started = settledWithin(START_TIMEOUT_MS, Promise.allSettled(this.#starting));
    await Promise.all([started, ...Array.from(this.#sessions.keys(), (each) => each.close())]);
    await this.#pool?.close();
  }

  #createOffload(meter: OffloadMeter, config: SessionConfig): Offload {
    const { offload, tokenizer } = this.#options;
    if (this.#pool === undefined || this.#host === undefined) {
      return new InlineOffload(meter);
    }
    const pooled = new SnapshotOffload(this.#pool, meter);
    if (offload === 'snapshot') return pooled;
    const countsTokens = tokenizer === 'o200k';
    const minEntries = countsTokens ? MIN_RESIDENT_ENTRIES : MIN_RESIDENT_ENTRIES_UNCOUNTED;
    return new ResidentOffload({
      host: this.#host,
      pooled,
      meter,
      agent: indexedAgentOf(config.density()),
      countsTokens,
      passSettings: () => config.density(),
      minEntries: offload === 'resident' ? 1 : minEntries,
    });
  }

  async #resolvePrompt(): Promise<string | undefined> {
    const { promptDirectory } = this.#options;
    if (promptDirectory === undefined) return undefined;
    return new PromptResolver({ directory: promptDirectory }).resolve('compression');
  }

  #summarizerOf(profile: string | undefined): CompressionInputs['summarizer'] {
    const { summarizer } = this.#options;
    if (typeof summarizer !== 'function') return summarizer;
    const failed = (message: string, failure?: ErrorOptions): Error =>
      new SummarizerError(message, 'SUMMARIZER_FAILED', failure);
    return askHost(
      'The summarizer function',
      'an object with contextLimit and generate',
      () => summarizer(profile),
      failed,
      (answer) => (isSummarizer(answer) ? answer : undefined),
    );
  }

  #assertOpen(): void {
    if (this.#closing === undefined) return;
    throw new CtxfoldError(
      'The compactor is closed; create another one for new sessions.',
      'CLOSED',
    );
  }
}
