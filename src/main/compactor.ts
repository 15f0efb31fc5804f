// The front door: checks the options once, owns the pool of worker threads, makes sessions.

import { randomUUID } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { DensityConfig } from '../shared/density.js';
import { indexedAgentOf } from '../shared/density/index/index-scope.js';
import { assertWorkingSetRules } from '../shared/density/rules/working-set-rules.js';
import { CtxfoldError, SummarizerError } from '../shared/errors.js';
import { assertString, assertTokens } from '../shared/misuse.js';
import { askHost } from './host/ask-host.js';
import { completeCompactorOptions } from './compactor-options.js';
import type { CompactorOptions, CompleteCompactorOptions } from './compactor-options.js';
import type { HistoryMirror } from './history-change.js';
import { HistoryService } from './history-service.js';
import { InlineOffload } from './offload/inline.js';
import type { FallbackEvent, Offload, OffloadStats } from './offload/offload.js';
import { OffloadMeter } from './offload/offload-meter.js';
import { ResidentHost } from './offload/resident-host.js';
import type { ResidentHostStats } from './offload/resident-host.js';
import {
  MIN_RESIDENT_ENTRIES,
  MIN_RESIDENT_ENTRIES_UNCOUNTED,
  ResidentOffload,
} from './offload/resident.js';
import { SnapshotOffload } from './offload/snapshot.js';
import { WorkerPool } from './offload/worker-pool.js';
import type { WorkerPoolStats } from './offload/worker-pool.js';
import type { CompressionInputs } from './preflight/make-compression.js';
import { completeEditOptions } from './preflight/edit-options.js';
import type { CompleteEditOptions, EditOptions } from './preflight/edit-options.js';
import { currentDensityConfig } from './preflight/session-parts.js';
import type { SessionInit } from './preflight/session-parts.js';
import { PromptResolver } from './prompts/prompt-resolver.js';
import { createAgentRuntimeContext } from './settings/runtime-context.js';
import { Settings } from './settings/settings.js';
import { getCompressionStrategy } from './strategies/registry.js';
import { isSummarizer } from './summarizer/summarizer.js';
import { askForTodos } from './summarizer/todo.js';
import { TokenCalibration } from './tokens/token-calibration.js';
import { createCountEntries } from './tokens/token-counter.js';
import type { RestoredResponse } from './removal-log/restore.js';
import { restoreLatest } from './removal-log/restore-latest.js';
import type { OpenSession, RestoreOptions } from './removal-log/restore-latest.js';
import { assertSessionId } from './removal-log/session-scope.js';
import { RemovalLog } from './removal-log/removal-log.js';
import { Session } from './session.js';
import { resolveStore } from './state/directory-store.js';
import { SessionStates } from './state/session-states.js';
import { takeIn } from './state/take-up.js';
import { setImmediate } from './waiting/immediate.js';
import { FallbackNotice } from './offload/fallback-notice.js';
import { DEFAULT_TOOL_CATALOG } from '../shared/tool-catalog.js';
import { ModelLimits } from './models/model-limits.js';
import { CacheTerms } from './models/cache-terms.js';
import { ModelPrices } from './models/model-prices.js';
import { sessionDefaults } from './session-defaults.js';
import { readSessionOptions, removalLogPathOf } from './session-options.js';
import type { SessionOptions } from './session-options.js';

/** What a compactor has done, and how its threads are. */
export interface CompactorStats extends OffloadStats {
  /** Sessions that are open. */
  readonly sessions: number;
  /** Histories that live on worker threads now, and were let go to make room; `null` when all runs inline. */
  readonly residents: ResidentHostStats | null;
  /** The worker threads; `null` when all runs inline. */
  readonly pool: WorkerPoolStats | null;
}

/** What a compactor runs on. The logger is told at the start, at the level of `debug`. */
export interface CompactorStatus {
  /** Which defaults there are. */
  readonly preset: 'agents' | 'specification';
  readonly offload: CompactorOptions['offload'];
  /** Worker threads that may be started; 0 when all runs inline. */
  readonly threads: number;
  /** How tokens are counted; `own` by a tokenizer of the host's. */
  readonly tokens: 'o200k' | 'estimate' | 'own';
  /** Tools that are known by name where a session brings no catalog. */
  readonly tools: number;
  /** Tokens that all models are taken to accept, or `by-model`. */
  readonly contextLimit: number | 'by-model';
  /** What models have turned out to accept, by name. */
  readonly learnedLimits: Readonly<Record<string, number>>;
  /** Open sessions, and those among them that keep what goes. */
  readonly sessions: number;
  readonly removalLogs: number;
}

/** Owns what sessions share, and makes them. */
export interface Compactor extends AsyncDisposable {
  /**
   * Makes a session. Taking a long history in gives the event loop its turns.
   *
   * @throws TypeError for an entry that a history cannot hold; TypeError or RangeError for options that
   * are not what they have to be; `CtxfoldError` `CLOSED`, or why the removal log or the prompt
   * could not be opened.
   */
  createSession(options?: SessionOptions): Promise<Session>;
  /**
   * Returns what a tool answered before an edit took it away, from the removal log of the open session that is named:
   * also what earlier sessions of that id recorded in it. With `acrossSessions: true`, from the removal logs of all
   * open sessions, whoever recorded it; that is for a host whose sessions all belong to one user. Of several calls
   * with that id it gives the one that was recorded last.
   *
   * @throws TypeError when neither a session is named nor all are; CtxfoldError `NOT_IN_REMOVAL_LOG` when
   * no removal log of these holds it, `SESSION_AMBIGUOUS` when several open sessions have the id,
   * `REMOVAL_LOG_READ_FAILED` when a removal log that might hold it could not be read.
   */
  restore(callId: string, options: RestoreOptions): Promise<RestoredResponse>;
  /**
   * Takes what a call of a model has thrown, or the text that it was answered with. Where a provider refused a prompt as too long
   * and named its limit, all sessions of that model go by it from then on, unless `contextLimit` was given. Middleware
   * does this by itself; whoever calls a model on his own does it in his `catch`.
   *
   * @returns the limit, or `undefined` when that was something else
   */
  reportRefusal(thrown: unknown, modelName?: string): number | undefined;
  /** What runs where, and by which defaults. */
  status(): CompactorStatus;
  /** What all sessions did so far, open ones and closed ones, and the state of the threads. */
  stats(): CompactorStats;
  /**
   * Closes all sessions and ends the worker threads. Final; may be called again; resolves within
   * about a second, or five when a disk hangs.
   */
  close(): Promise<void>;
}

/**
 * Makes a compactor. Threads start with the first work for them, and do not keep the process alive.
 *
 * @throws TypeError for what is no object of options; RangeError naming each option that is wrong.
 */
export function createCompactor(options: CompactorOptions = {}): Compactor {
  const complete = completeCompactorOptions(options);
  const compactor = new ThreadedCompactor(complete);
  complete.logger.debug('a compactor starts', compactor.status());
  return compactor;
}

/** Where a session's work runs, and what has to be told of changes for that. */
interface SessionOffload {
  readonly offload: Offload;
  readonly mirror: HistoryMirror | undefined;
}

/** What a session is made of before it has a history. */
type SessionBasics = CompleteEditOptions &
  Omit<SessionInit, keyof EditOptions | 'history' | 'offload' | 'resolveStrategy' | 'logger'>;

class ThreadedCompactor implements Compactor {
  readonly #options: CompleteCompactorOptions;
  readonly #pool: WorkerPool | undefined;
  readonly #meter = new OffloadMeter();
  readonly #host: ResidentHost | undefined;
  /** The open ones, and where they keep what goes. */
  readonly #sessions = new Map<Session, OpenSession>();
  /** What one session learns about a model serves all others. */
  readonly #calibration = new TokenCalibration();
  readonly #states: SessionStates;
  readonly #notice: FallbackNotice;
  readonly #limits: ModelLimits;
  readonly #prices: ModelPrices;
  #closing: Promise<void> | undefined;

  constructor(options: CompleteCompactorOptions) {
    this.#options = options;
    const store = resolveStore(options.store);
    this.#states = new SessionStates({ ...options, store, calibration: this.#calibration });
    this.#notice = new FallbackNotice(options.logger);
    this.#limits = new ModelLimits(options.contextLimit, options.logger);
    this.#prices = new ModelPrices(options.prices, options.logger);
    if (options.offload === 'inline') return;
    this.#pool = new WorkerPool({ threads: options.threads });
    this.#host = new ResidentHost(this.#pool, options.maxResidentSessions);
  }

  async createSession(given: SessionOptions = {}): Promise<Session> {
    this.#assertOpen();
    const options = readSessionOptions(given);
    const { workspaceRoot, preset } = this.#options;
    const defaults = sessionDefaults(preset);
    const { sessionId = randomUUID() } = options;
    assertSessionId(sessionId);
    const removalLogPath = removalLogPathOf(options, sessionId);
    const overheadTokens = options.overheadTokens ?? this.#options.overheadTokens;
    assertTokens('overheadTokens', overheadTokens);
    const edits = completeEditOptions({ ...options, edits: options.edits ?? defaults.edits });
    const settings = new Settings(this.#options.settings, this.#options.profile);
    const canRecall = options.canRecall === true || removalLogPath !== undefined;
    /** Nobody can name a model before there is a session. */
    let modelName = (): string | undefined => undefined;
    const limit = (): number => this.#limits.limitOf(modelName());
    const cache = new CacheTerms(options.cacheTtlMs, () => this.#prices.of(modelName()));
    const runtimeContext = createAgentRuntimeContext(settings, limit, canRecall, defaults.ahead);
    const densityOptions = {
      workspaceRoot,
      ...defaults.density,
      ...options.density,
    };
    if (densityOptions.workingSet !== undefined) assertWorkingSetRules(densityOptions.workingSet);
    /** A history moves in before anybody can listen to its session: until then this waits. */
    const early: FallbackEvent[] = [];
    let tell = (event: FallbackEvent): void => void early.push(event);
    const place = this.#createOffload(
      new OffloadMeter(sessionId, this.#meter),
      () => currentDensityConfig({ runtimeContext, densityOptions, edits, cache }),
      (event) => {
        this.#notice.tell(event);
        tell(event);
      },
    );
    try {
      const about = {
        ...edits,
        sessionId,
        settings,
        runtimeContext,
        densityOptions,
        ownCatalog: options.density?.toolCatalog,
        overheadTokens,
        cache,
        isReasoningUnsaid: options.reasoning === undefined,
      };
      const session = await this.#startSession({ ...options, removalLogPath }, about, place);
      modelName = () => session.history.modelName;
      tell = (event): void => {
        session.reportFallback(event);
      };
      setImmediate(() => {
        early.forEach(tell);
      });
      return session;
    } catch (error) {
      place.offload.close?.();
      throw error;
    }
  }

  async #startSession(
    { removalLogPath, activeTodos, history: restored = [], state, ...options }: SessionOptions,
    about: SessionBasics,
    { offload, mirror }: SessionOffload,
  ): Promise<Session> {
    const { logger, tokenizer } = this.#options;
    const history = new HistoryService({
      countEntries: createCountEntries(tokenizer, offload),
      mirror,
      logger,
      keepsAdded: this.#options.store !== undefined,
    });
    const { taken, memory, report, keeper } = await this.#states.begin(history, {
      ...{ state, given: restored, conversationId: options.sessionId, edits: about.edits },
      toolCatalog: about.densityOptions.toolCatalog,
    });
    const compressionPrompt = await this.#resolvePrompt();
    const removalLog =
      removalLogPath === undefined ? undefined : await RemovalLog.open(removalLogPath);
    const session: Session = new Session({
      ...about,
      ...{ compactByProvider: options.compactByProvider, now: options.now },
      carriesWork: sessionDefaults(this.#options.preset).carriesWork,
      history,
      offload,
      resolveStrategy: getCompressionStrategy,
      calibration: this.#calibration,
      countsAreEstimates: () => tokenizer === 'estimate' || this.#notice.hasToldOfEstimates,
      compressionInputs: (): CompressionInputs => {
        const summarizer = this.#summarizerOf(about.runtimeContext.ephemerals.compressionProfile());
        return {
          ...(summarizer !== undefined && { summarizer }),
          ...(compressionPrompt !== undefined && { compressionPrompt }),
          ...(activeTodos !== undefined && { activeTodos: askForTodos(activeTodos) }),
          ...(removalLog !== undefined && { transcriptPath: removalLog.path }),
        };
      },
      removalLog,
      isTakenUp: memory === undefined && restored.some(({ speaker }) => speaker === 'ai'),
      former: memory,
      keeper,
      onClose: async () => {
        offload.close?.();
        this.#sessions.delete(session);
        if (this.#closing !== undefined) return;
        await this.#states.end(history, about.edits, () => session.snapshot());
      },
      logger,
    });
    await takeIn(history, restored, taken);
    if (report !== undefined) setImmediate(() => session.reportState(report));
    const directory = removalLogPath === undefined ? undefined : dirname(resolve(removalLogPath));
    this.#sessions.set(session, { sessionId: about.sessionId, removalLog, directory });
    if (this.#closing !== undefined) await session.close();
    this.#assertOpen();
    return session;
  }

  restore(callId: string, options: RestoreOptions): Promise<RestoredResponse> {
    return restoreLatest([...this.#sessions.values()], callId, options);
  }

  reportRefusal(thrown: unknown, modelName?: string): number | undefined {
    if (modelName !== undefined) assertString('modelName', modelName);
    return this.#limits.learn(thrown, modelName);
  }

  status(): CompactorStatus {
    const { preset, offload, tokenizer, contextLimit } = this.#options;
    const { toolCatalog = DEFAULT_TOOL_CATALOG } = sessionDefaults(preset).density;
    const open = [...this.#sessions.values()];
    return {
      preset: preset ?? 'agents',
      offload,
      threads: this.#pool?.threads ?? 0,
      tokens: typeof tokenizer === 'string' ? tokenizer : 'own',
      tools: Object.keys(toolCatalog).length,
      contextLimit: typeof contextLimit === 'number' ? contextLimit : 'by-model',
      learnedLimits: this.#limits.learned,
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
    await Promise.all(Array.from(this.#sessions.keys(), (session) => session.close()));
    await this.#pool?.close();
  }

  #createOffload(
    meter: OffloadMeter,
    densityConfig: () => DensityConfig,
    onFallback: (event: FallbackEvent) => void,
  ): SessionOffload {
    const { offload, tokenizer } = this.#options;
    if (this.#pool === undefined || this.#host === undefined) {
      return { offload: new InlineOffload(meter, onFallback), mirror: undefined };
    }
    const pooled = new SnapshotOffload(this.#pool, { meter, onFallback });
    if (offload === 'snapshot') return { offload: pooled, mirror: undefined };
    const countsTokens = tokenizer === 'o200k';
    const minEntries = countsTokens ? MIN_RESIDENT_ENTRIES : MIN_RESIDENT_ENTRIES_UNCOUNTED;
    const resident = new ResidentOffload({
      host: this.#host,
      pooled,
      meter,
      onFallback,
      agent: indexedAgentOf(densityConfig()),
      countsTokens,
      passSettings: densityConfig,
      minEntries: offload === 'resident' ? 1 : minEntries,
    });
    return { offload: resident, mirror: resident };
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
