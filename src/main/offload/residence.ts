// One residence of a session's history in a worker: its connection, what was posted, and what the worker has answered. Ends as a whole if
// any part fails; `resident.ts` decides whether another one follows.

import type { IContent } from '../../shared/content.js';
import { isSameBase } from '../../shared/density.js';
import type { DensityBase, PassSettings } from '../../shared/density.js';
import type { IndexedAgent } from '../../shared/density/index/index-scope.js';
import { isSamePass, passSettingsOf } from '../../shared/density/plan/optimize.js';
import { asError, WorkerPoolError } from '../../shared/errors.js';
import type {
  CompressionRequest,
  DeltaValue,
  HistoryDelta,
  PlannedCompression,
  PlannedPass,
  ResidentOptions,
} from '../../shared/resident-protocol.js';
import type { HistoryChange, HistoryState } from '../history-change.js';
import { clearImmediate, setImmediate, nextTurn } from '../waiting/event-loop-turn.js';
import { DeltaQueue } from './delta-queue.js';
import { InFlightParcels } from './in-flight-parcels.js';
import type { CountingThreads, InFlightParcel } from './in-flight-parcels.js';
import type { OffloadMeter } from './offload-meter.js';
import { MAX_BATCH_CHARACTERS, MAX_BATCH_ENTRIES } from './posted-entry.js';
import type { ReadReply } from './reply.js';
import type { ResidentConnection } from './resident-connection.js';

/** A connection as a session uses it. */
export type SessionConnection = Pick<
  ResidentConnection,
  'receive' | 'isBusy' | 'isClosed' | 'close'
>;

/** What a residence needs from its session. */
export interface ResidenceOptions {
  readonly agent: IndexedAgent;
  /** Whether the worker counts tokens; otherwise the session counts them elsewhere. */
  readonly countsTokens: boolean;
  /** Returns the settings that the next pass will probably have: the same object until they change. */
  readonly passSettings: () => PassSettings;
  readonly meter: OffloadMeter;
  /** Opens the connection. */
  readonly open: (options: ResidentOptions) => Promise<SessionConnection>;
  readonly counting: CountingThreads;
  /** Called whenever the worker has answered. */
  readonly onAnswer: () => void;
  /** Called with the counts of new entries. */
  readonly onArrival: (staged: readonly IContent[], tokens: Int32Array) => void;
  /** Called with a pass that has arrived. */
  readonly onPass: (pass: PlannedPass, settings: PassSettings) => void;
  /** Called once if the residence has failed. */
  readonly onLoss: (error: Error) => void;
}

/** Backpressure: maximum UTF-16 units posted but not acknowledged. The rest waits in the queue, where it takes no extra memory. */
const MAX_UNACKNOWLEDGED_CHARACTERS = 4 * MAX_BATCH_CHARACTERS;

interface ReadyPass {
  readonly settings: PassSettings;
  readonly pass: PlannedPass;
}

/** The residence of a history in a worker, from the opening of its connection. */
export class Residence {
  readonly #options: ResidenceOptions;
  readonly #queue: DeltaQueue;
  #connection: SessionConnection | undefined;
  #hasEnded = false;
  readonly #inFlight: InFlightParcels;
  /** Number of callers that wait for a plan. */
  #waiting = 0;
  /** Settles when the newest delta is answered, or the residence has ended. Never rejects. */
  #lastAnswer: Promise<void>;
  #readyPass: ReadyPass | undefined;
  /** Whether entries were added since the last pass was requested. */
  #isUnplanned = false;
  #scheduled: NodeJS.Immediate | undefined;
  /** Number of running tasks that threads should do before queued changes. */
  #holds = 0;

  /** @param length number of entries that belong to the opening; the others will be pushed */
  constructor(options: ResidenceOptions, state: HistoryState, length: number) {
    this.#options = options;
    const { countsTokens, meter, counting, onArrival } = options;
    this.#queue = new DeltaQueue(state, length);
    this.#inFlight = new InFlightParcels({
      queue: this.#queue,
      meter,
      onArrival,
      threads: countsTokens ? counting : undefined,
      onChange: () => {
        this.#schedule();
      },
    });
    this.#lastAnswer = this.#open(state.base.length);
  }

  /** Whether nothing is pending, so that the residence could end without loss. */
  get isIdle(): boolean {
    return this.#connection !== undefined && !this.#connection.isBusy && this.#isAllPosted;
  }

  /** Detects that the connection died while idle, which triggers no failure by itself. */
  checkConnection(): void {
    if (this.#connection?.isClosed !== true) return;
    this.#fail(new WorkerPoolError('The thread of a resident history died.', 'WORKER_DIED'));
  }

  /** Queues a change; all changes of a macrotask are posted together. Returns the new entries. */
  push(change: HistoryChange, state: HistoryState): readonly IContent[] {
    const newEntries = this.#queue.push(change, state);
    this.#schedule();
    return newEntries;
  }

  /** Posts queued changes, one message per turn of the event loop. */
  postQueued(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    if (this.#hasEnded) return;
    try {
      const isDrawn = this.#inFlight.takeFromQueue(this.#mayPost);
      const isPosted = this.#postNext();
      if ((isDrawn || isPosted) && !this.#isAllPosted) this.#schedule();
    } catch (thrown) {
      // The host has changed an entry since it was added.
      this.#fail(thrown);
    }
  }

  /**
   * Runs a task that a preflight waits for, and holds back queued changes meanwhile: receiving an edit would keep the worker busy
   * renumbering all rows. Explicit `postQueued` calls are not held back.
   */
  async holdFor<Value>(run: () => Promise<Value>): Promise<Value> {
    this.#holds += 1;
    try {
      return await run();
    } finally {
      this.#holds -= 1;
      if (!this.#hasEnded && !this.#isAllPosted) this.#schedule();
    }
  }

  /** Returns the pass on the state of a base, if it has arrived. */
  passFor(base: DensityBase, settings: PassSettings): PlannedPass | undefined {
    const ready = this.#readyPass;
    if (ready === undefined || !isSameBase(ready.pass.base, base)) return undefined;
    return isSamePass(ready.settings, settings) ? ready.pass : undefined;
  }

  /** Resolves to the pass on a state that was pushed; to `undefined` if that would take long, or if the residence has ended. */
  async requestPass(base: DensityBase, settings: PassSettings): Promise<PlannedPass | undefined> {
    this.postQueued();
    if (this.#hasEnded || this.#queue.length > MAX_BATCH_ENTRIES) return undefined;
    await this.#whenTakenArePosted();
    await this.#lastAnswer;
    const found = this.passFor(base, settings);
    if (found !== undefined) return found;
    // The state matches but the settings differ, so a pass must be requested.
    const pass = (await this.#ask(base, { pass: passSettingsOf(settings) }))?.value.pass;
    if (pass !== undefined && this.#isPostedUpTo(base)) this.#readyPass = { settings, pass };
    return pass;
  }

  /** Requests the plan of a compression on the state of a base; resolves to `undefined` if the worker cannot make it. */
  async compress(
    base: DensityBase,
    compression: CompressionRequest,
  ): Promise<PlannedCompression | undefined> {
    this.postQueued();
    const startedAt = performance.now();
    const answer = await this.#ask(base, { compression });
    if (answer === undefined) return undefined;
    const work = { task: 'compress', ranOn: 'resident', entries: base.length } as const;
    this.#options.meter.addPosted({ ...work, bytesSent: 0 }, { startedAt, runMs: answer.runMs });
    return answer.value.compression ?? undefined;
  }

  /** Ends the residence; the worker releases the history. */
  end(): void {
    this.#hasEnded = true;
    this.#inFlight.end();
    clearImmediate(this.#scheduled);
    this.#connection?.close();
    this.#connection = undefined;
    this.#readyPass = undefined;
  }

  async #open(entries: number): Promise<void> {
    const { open, agent, countsTokens, meter } = this.#options;
    // The first opening starts threads, which takes milliseconds: do not delay the caller whose change led here.
    await nextTurn();
    const startedAt = performance.now();
    try {
      const connection = await open({ agent, countsTokens });
      if (this.#hasEnded) {
        connection.close();
        return;
      }
      this.#connection = connection;
      const work = { task: 'open', ranOn: 'resident', entries, bytesSent: 0 } as const;
      meter.addPosted(work, { startedAt, runMs: 0 });
    } catch (thrown) {
      this.#fail(thrown);
      return;
    }
    const opening = this.#lastAnswer;
    this.postQueued();
    // `#lastAnswer` is this promise itself until something was posted.
    if (this.#lastAnswer !== opening) await this.#lastAnswer;
  }

  #isPostedUpTo(base: DensityBase): boolean {
    const posted = this.#queue.base;
    return posted !== undefined && isSameBase(posted, base);
  }

  get #isAllPosted(): boolean {
    return this.#queue.isEmpty && this.#inFlight.first === undefined;
  }

  get #mayPost(): boolean {
    const isFull = this.#inFlight.postedCharacters >= MAX_UNACKNOWLEDGED_CHARACTERS;
    return this.#connection !== undefined && !isFull;
  }

  /** Posts the next parcel. Returns whether there was one. */
  #postNext(): boolean {
    if (this.#connection === undefined || !this.#mayPost) return false;
    const next = this.#inFlight.take(this.#waiting > 0);
    if (next === undefined) return false;
    this.#isUnplanned ||= next.adds;
    // Request a plan only if there are new entries, and nothing is queued that would invalidate it.
    const isAsked = this.#isUnplanned && this.#isAllPosted;
    if (isAsked) this.#isUnplanned = false;
    const settings = isAsked ? this.#options.passSettings() : undefined;
    this.#lastAnswer = this.#post(this.#connection, next, settings);
    return true;
  }

  /** Settles when everything taken from the queue was posted, or the residence has ended. */
  async #whenTakenArePosted(): Promise<void> {
    this.#waiting += 1;
    for (
      let { first } = this.#inFlight;
      first !== undefined && !this.#hasEnded;
      { first } = this.#inFlight
    ) {
      this.postQueued();
      if (this.#inFlight.first === first) await (first.counting ?? this.#lastAnswer);
    }
    this.#waiting -= 1;
    this.postQueued();
  }

  #schedule(): void {
    this.#scheduled ??= setImmediate(() => {
      this.#scheduled = undefined;
      if (this.#holds === 0) this.postQueued();
    });
  }

  /** Posts synchronously. The promise never rejects. @param settings those of the pass to plan @default none */
  async #post(
    connection: SessionConnection,
    parcel: InFlightParcel,
    settings: PassSettings | undefined,
  ): Promise<void> {
    const { staged, characters, isCounted } = parcel;
    const isOutOfReach = this.#inFlight.isOutOfReach(parcel);
    const delta = isOutOfReach ? { ...parcel.delta, isOutOfReach } : parcel.delta;
    const startedAt = performance.now();
    const receiving = this.#exchange(
      connection,
      settings === undefined ? delta : { ...delta, pass: passSettingsOf(settings) },
    );
    const postedAt = performance.now();
    const answer = await receiving;
    if (answer === undefined) return;
    const { value, runMs } = answer;
    const work = { task: 'count', ranOn: 'resident', entries: staged.length } as const;
    const times = { startedAt, postedAt, runMs };
    this.#options.meter.addPosted({ ...work, bytesSent: characters }, times);
    this.#inFlight.noteAnswer(parcel);
    this.#readyPass =
      settings === undefined || value.pass === undefined
        ? undefined
        : { settings, pass: value.pass };
    this.#options.onAnswer();
    if (this.#readyPass !== undefined) {
      this.#options.onPass(this.#readyPass.pass, this.#readyPass.settings);
    }
    if (!isCounted) this.#options.onArrival(staged, value.tokens);
    // Several answers may be read in one turn of the event loop; post what they make room for in later ones.
    if (!this.#isAllPosted) this.#schedule();
  }

  /** Asks for a plan on the state of a base; resolves to `undefined` if the worker is at another one, or has failed. */
  async #ask(
    base: DensityBase,
    plans: Pick<HistoryDelta, 'pass' | 'compression'>,
  ): Promise<ReadReply<DeltaValue> | undefined> {
    const isAtBase = this.#inFlight.first === undefined && this.#isPostedUpTo(base);
    if (this.#connection === undefined || !isAtBase) return undefined;
    return this.#exchange(this.#connection, { ...this.#queue.nothing(), ...plans });
  }

  /** Posts synchronously. Resolves to `undefined` if the residence has ended; never rejects. */
  async #exchange(
    connection: SessionConnection,
    delta: HistoryDelta,
  ): Promise<ReadReply<DeltaValue> | undefined> {
    try {
      const answer = await connection.receive(delta);
      return this.#hasEnded ? undefined : answer;
    } catch (thrown) {
      this.#fail(thrown);
      return undefined;
    }
  }

  #fail(thrown: unknown): void {
    if (this.#hasEnded) return;
    this.end();
    this.#options.onLoss(asError(thrown));
  }
}
