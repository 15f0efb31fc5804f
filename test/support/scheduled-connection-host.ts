// Connections to resident histories without threads. A connection processes messages in order, like a thread, and answers
// when a scheduler says so. It can be lost, and an opening can be refused.

import type fc from 'fast-check';
import type { SessionConnection } from '../../src/main/offload/residence.js';
import type { ConnectionHost, EvictableSession } from '../../src/main/offload/resident.js';
import type { ReadReply } from '../../src/main/offload/reply.js';
import type { IContent } from '../../src/shared/content.js';
import type { PassSettings } from '../../src/shared/density.js';
import { asError, WorkerPoolError } from '../../src/shared/errors.js';
import type {
  DeltaValue,
  HistoryDelta,
  ResidentOptions,
} from '../../src/shared/resident-protocol.js';
import { entryCharacters } from '../../src/shared/tokens/estimate.js';
import { measureEntries } from '../../src/shared/tokens/count-tokens.js';
import type { Measures } from '../../src/shared/tokens/count-tokens.js';
import { ResidentHistory } from '../../src/worker/resident-history.js';
import { countThirds } from './piece-counters.js';

/** The traffic over a host's connections. */
export interface LineTraffic {
  openings: number;
  refusals: number;
  deltas: number;
  /** Parcels counted before the connection received them. */
  counts: number;
  lostCounts: number;
  /** Deltas too far from the end to look for their results. */
  farDeltas: number;
  /** Deltas with changes that requested a pass. */
  passes: number;
  /** The settings of the last pass. */
  lastPass: PassSettings | undefined;
  /** Deltas without changes that requested a pass. */
  plans: number;
  /** Maximum number of posted characters without a reply. */
  mostCharacters: number;
  /** Errors returned by a history; a session should cause none. */
  readonly complaints: Error[];
}

/** Opens connections when the scheduler says so. */
export class ScheduledConnectionHost implements ConnectionHost {
  readonly traffic: LineTraffic = {
    ...{
      openings: 0,
      refusals: 0,
      deltas: 0,
      farDeltas: 0,
      counts: 0,
      lostCounts: 0,
      passes: 0,
      lastPass: undefined,
      plans: 0,
      mostCharacters: 0,
    },
    complaints: [],
  };
  /** Number of openings to refuse before the next succeeds. */
  refusalsAhead = 0;
  /** Parcels whose counts will be lost, by their position from 1. */
  readonly lostCounts: number[] = [];
  /** Maximum number of parcels that were counted, and not yet received. */
  mostHeld = 0;
  /** Signals by which the caller may abort counts. */
  readonly countSignals: AbortSignal[] = [];
  readonly countingThreads = 2;
  countsFrom = 3;
  readonly #scheduler: fc.Scheduler;
  readonly #connections: ScheduledConnection[] = [];

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  get openConnections(): readonly ScheduledConnection[] {
    return this.#connections.filter(({ isClosed }) => !isClosed);
  }

  async open(_guest: EvictableSession, options: ResidentOptions): Promise<SessionConnection> {
    const isRefused = this.refusalsAhead > 0;
    if (isRefused) this.refusalsAhead -= 1;
    await this.#scheduler.schedule(Promise.resolve(), 'open');
    if (isRefused) {
      this.traffic.refusals += 1;
      throw new WorkerPoolError('There is no thread.', 'WORKER_DIED');
    }
    this.traffic.openings += 1;
    const connection = new ScheduledConnection(
      this.#scheduler,
      structuredClone(options),
      this.traffic,
    );
    this.#connections.push(connection);
    return connection;
  }

  async count(
    contents: readonly IContent[],
    knownTokens: Int32Array,
    signal: AbortSignal,
  ): Promise<ReadReply<Measures>> {
    this.countSignals.push(signal);
    const isLost = this.lostCounts.includes(this.countSignals.length);
    // Read in its turn, as a thread does.
    await this.#scheduler.schedule(Promise.resolve(), 'count');
    if (isLost) this.traffic.lostCounts += 1;
    if (isLost) throw new WorkerPoolError('A thread that counted has died.', 'WORKER_DIED');
    this.traffic.counts += 1;
    this.mostHeld = Math.max(this.mostHeld, this.traffic.counts - this.traffic.deltas);
    return { value: measureEntries(contents, countThirds, knownTokens), runMs: 0 };
  }
}

/** A connection that fails as a whole, like a real one. */
export class ScheduledConnection implements SessionConnection {
  readonly #scheduler: fc.Scheduler;
  readonly #traffic: LineTraffic;
  readonly #history: ResidentHistory;
  readonly #openCalls: Set<(error: Error) => void> = new Set();
  #newestReply: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #characters = 0;

  constructor(scheduler: fc.Scheduler, options: ResidentOptions, traffic: LineTraffic) {
    this.#scheduler = scheduler;
    this.#traffic = traffic;
    this.#history = new ResidentHistory(options, options.countsTokens ? countThirds : undefined);
  }

  get isClosed(): boolean {
    return this.#failure !== undefined;
  }

  get isBusy(): boolean {
    return this.#openCalls.size > 0;
  }

  async receive(delta: HistoryDelta): Promise<ReadReply<DeltaValue>> {
    const characters = delta.steps
      .flatMap((step) => (step.kind === 'stage' ? step.contents : []))
      .reduce((sum, entry) => sum + entryCharacters(entry), 0);
    const isChange = delta.steps.length > 0;
    if (isChange) this.#traffic.deltas += 1;
    else if (delta.pass !== undefined) this.#traffic.plans += 1;
    if (isChange && delta.pass !== undefined) {
      this.#traffic.passes += 1;
      this.#traffic.lastPass = delta.pass;
    }
    if (delta.isOutOfReach === true) this.#traffic.farDeltas += 1;
    this.#characters += characters;
    this.#traffic.mostCharacters = Math.max(this.#traffic.mostCharacters, this.#characters);
    const posted = structuredClone(delta);
    const label = isChange ? 'delta' : 'plan';
    const outcome = await this.#call(label, () => this.#history.receive(posted));
    this.#characters -= characters;
    return outcome;
  }

  close(): void {
    this.fail(new WorkerPoolError('The line is closed.', 'CLOSED'));
  }

  /** Loses the connection and all outstanding answers. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const reject of this.#openCalls) reject(error);
    this.#openCalls.clear();
  }

  #call<Value>(label: string, run: () => Value): Promise<ReadReply<Value>> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      this.#openCalls.add(reject);
      const reply = answer(run);
      this.#newestReply = this.#newestReply
        .then(() => this.#scheduler.schedule(Promise.resolve(), label))
        .then(() => {
          if (!this.#openCalls.delete(reject)) return;
          if (reply.ok) {
            resolve({ value: structuredClone(reply.value), runMs: 0 });
            return;
          }
          this.#traffic.complaints.push(reply.error);
          reject(reply.error);
          this.fail(reply.error);
        });
    });
  }
}

function answer<Value>(
  run: () => Value,
): { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: Error } {
  try {
    return { ok: true, value: run() };
  } catch (thrown) {
    return { ok: false, error: asError(thrown) };
  }
}
