// Keeps a copy of a session's history resident in a worker, so that counts and plans are ready when needed. Decides when a residence
// begins, and delegates what the worker cannot serve.

import type { IContent } from '../../shared/content.js';
import { EMPTY_PLAN } from '../../shared/density/plan/plan.js';
import { WorkerPoolError } from '../../shared/errors.js';
import type { PlannedPass, ResidentOptions } from '../../shared/resident-protocol.js';
import type { HistoryState, HistoryWatcher } from '../history-change.js';
import { abortable } from '../waiting/abortable.js';
import { Arrivals } from './arrivals.js';
import { BlocksAhead } from './blocks-ahead.js';
import { FailurePauses } from './failure-pauses.js';
import type { CountingThreads } from './in-flight-parcels.js';
import { InlineOffload } from './inline.js';
import type { OffloadMeter } from './offload-meter.js';
import type { Offload } from './offload.js';
import { Residence } from './residence.js';
import type { ResidenceOptions, SessionConnection } from './residence.js';

/** A session as its host sees it. */
export type EvictableSession = Pick<ResidentOffload, 'isIdle' | 'release'>;

/** Opens connections, and provides threads that count entries for them. */
export interface ConnectionHost extends CountingThreads {
  open(session: EvictableSession, options: ResidentOptions): Promise<SessionConnection>;
}

export interface ResidentOffloadOptions extends Pick<
  ResidenceOptions,
  'agent' | 'countsTokens' | 'passSettings'
> {
  readonly host: ConnectionHost;
  /** Counts entries when there is no connection. */
  readonly pooled: Offload;
  /** Minimum length of a history to be kept resident. */
  readonly minEntries: number;
  /** Where work is booked, and the loss of a resident history; shared with `pooled`. */
  readonly meter: OffloadMeter;
}

/** Minimum length in entries for `auto`. New entries are posted for counting anyway, so a plan costs little more: see bench/README.md. */
export const MIN_RESIDENT_ENTRIES = 64;

/** Minimum length in entries if workers do not count tokens: for shorter histories, an inline pass is cheaper than a message. */
export const MIN_RESIDENT_ENTRIES_UNCOUNTED = 1_024;

/** After three residences in a row that failed without any answer, one is tried every half a minute. */
const PAUSES = { freeFailures: 2, firstPauseMs: 30_000, now: () => performance.now() };

/**
 * A session's connection to a worker that keeps its history.
 *
 * Changes are collected for the rest of the macrotask and sent as one message. The worker answers with the tokens of new
 * entries and the plan of a pass on the new state. A pass that needs that plan finds it here; it only waits while the last
 * message is pending.
 *
 * Nothing is assumed about a worker whose connection has failed: the residence ends as a whole, and the next change starts a new one from
 * the history itself. Until the new one is up to date, passes run on the calling thread, as they do while a long history is first
 * sent.
 */
export class ResidentOffload implements Offload {
  readonly #options: ResidentOffloadOptions;
  /** Plans while there is no residence. */
  #inline: InlineOffload | undefined;
  readonly #arrivals: Arrivals = new Arrivals();
  readonly #failures = new FailurePauses(PAUSES);
  readonly #blocksAhead: BlocksAhead;
  /** The history after its last change; `undefined` before any. */
  #state: HistoryState | undefined;
  #residence: Residence | undefined;
  #isClosed = false;

  constructor(options: ResidentOffloadOptions) {
    this.#options = options;
    this.#blocksAhead = new BlocksAhead((entries) => options.pooled.countTokens(entries));
  }

  /** Whether nothing is pending, so that the session could release its connection now. */
  get isIdle(): boolean {
    return this.#residence?.isIdle === true;
  }

  readonly noteChange: HistoryWatcher = (change, state) => {
    this.#state = state;
    this.#residence?.checkConnection();
    const isAppend = change.kind === 'append';
    if (this.#residence === undefined) {
      this.#inline?.noteChange(change, state);
      const { length } = state.base;
      // Entries appended just now are not part of the opening but follow as a change, so that their counts are expected.
      this.#moveIn(state, isAppend ? length - change.contents.length : length);
      if (!isAppend) return;
    } else if (!isAppend) {
      // Its index has missed the change, and would only occupy memory.
      this.#inline = undefined;
    }
    const comingIn = this.#residence?.push(change, state) ?? [];
    // The pool counts entries that an edit has rewritten: a preflight waits for their counts, and the resident worker would deliver
    // them only after renumbering all rows.
    if (!this.#options.countsTokens || change.kind === 'edit') return;
    this.#arrivals.expect(comingIn.filter((entry) => state.countedTokens(entry) === undefined));
  };

  readonly optimize: Offload['optimize'] = async (history, base, config, signal) => {
    signal?.throwIfAborted();
    const askedAt = performance.now();
    const residence = this.#residence;
    const pass =
      residence?.passFor(base, config) ??
      (await abortable(residence?.requestPass(base, config) ?? NOTHING, signal));
    if (pass !== undefined) {
      this.#bookPass(pass, askedAt);
      return pass;
    }
    // The history was rewritten meanwhile, so no plan for that base can be used any more.
    const isGone = (this.#state?.base.revision ?? base.revision) !== base.revision;
    if (isGone) return { plan: EMPTY_PLAN };
    this.#inline ??= new InlineOffload(this.#options.meter);
    return this.#inline.optimize(history, base, config, signal);
  };

  readonly countTokens: Offload['countTokens'] = async (contents, signal) => {
    signal?.throwIfAborted();
    const foreseen = contents.map((entry) => this.#blocksAhead.tokensOf(entry));
    if (foreseen.every((tokens) => tokens !== undefined)) return foreseen;
    const known = contents.filter((entry) => this.#arrivals.knows(entry));
    const counts = known.length === 0 ? undefined : await this.#takeKnown(known, signal);
    if (counts?.length === contents.length) return counts;
    const counted = new Map(counts?.map((tokens, at) => [known[at], tokens]));
    const others = contents.filter((entry) => !counted.has(entry));
    if (others.length > 0) {
      const count = (): Promise<readonly number[]> =>
        this.#options.pooled.countTokens(others, signal);
      const tokens = await (this.#residence?.holdFor(count) ?? count());
      for (const [at, entry] of others.entries()) counted.set(entry, tokens[at] ?? 0);
    }
    return contents.map((entry) => counted.get(entry) ?? 0);
  };

  /** Resolves to counts that have arrived or are expected; `undefined` if they were lost. */
  async #takeKnown(
    known: readonly IContent[],
    signal: AbortSignal | undefined,
  ): Promise<readonly number[] | undefined> {
    this.#residence?.postQueued();
    try {
      return await abortable(this.#arrivals.take(known), signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof WorkerPoolError)) throw error;
      return undefined;
    }
  }

  readonly planCompression: NonNullable<Offload['planCompression']> = (base, request, signal) => {
    return abortable(this.#residence?.compress(base, request) ?? NOTHING, signal);
  };

  /** Releases the session's connection. The session opens another one when needed. */
  release(): void {
    this.#residence?.end();
    this.#residence = undefined;
    this.#arrivals.fail(new WorkerPoolError('The resident history was released.', 'CLOSED'));
  }

  close(): void {
    this.#isClosed = true;
    this.release();
  }

  /** Starts a residence, if the history is long enough and not too many have failed. */
  #moveIn(state: HistoryState, length: number): void {
    if (this.#isClosed || state.base.length < this.#options.minEntries) return;
    if (!this.#failures.admits()) return;
    const { host, agent, countsTokens, passSettings, meter } = this.#options;
    const options: ResidenceOptions = {
      agent,
      countsTokens,
      passSettings,
      meter,
      open: (asked) => host.open(this, asked),
      counting: host,
      onAnswer: () => {
        this.#failures.noteSuccess();
      },
      onArrival: (staged, tokens) => {
        if (countsTokens) this.#arrivals.arrive(staged, tokens);
      },
      onPass: ({ base, plan }, settings) => {
        const isCurrent = (): boolean =>
          base.revision === this.#state?.base.revision && this.#residence === residence;
        if (!countsTokens || this.#state === undefined || !isCurrent()) return;
        void this.#blocksAhead.make(plan, settings, this.#state.entries, isCurrent);
      },
      onLoss: (error) => {
        this.#failures.noteFailure();
        this.#residence = undefined;
        this.#arrivals.fail(toLoss(error));
        meter.addFailure();
        meter.addFallback({ task: 'open', error, attempts: 1 });
      },
    };
    const residence = new Residence(options, state, length);
    this.#residence = residence;
  }

  #bookPass({ base, runMs }: PlannedPass, askedAt: number): void {
    const work = { task: 'optimize', ranOn: 'resident', entries: base.length } as const;
    const queueMs = performance.now() - askedAt;
    const nothing = { transferMs: 0, mainThreadMs: 0, bytesSent: 0 };
    this.#options.meter.addPass({ ...work, ...nothing, queueMs, runMs });
  }
}

const NOTHING: Promise<undefined> = Promise.resolve(undefined);

/** Returns the error for callers that wait for counts: they only need to know that none will come. */
function toLoss(cause: Error): WorkerPoolError {
  return new WorkerPoolError('A resident history was lost.', 'WORKER_FAILED', { cause });
}
