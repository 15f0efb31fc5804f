// The parcels of one connection between its queue and the worker. Other threads count their entries concurrently, while the connection receives
// the parcels in order. Parcels that these threads fail to count are counted by the connection's own thread.

import type { IContent } from '../../shared/content.js';
import type { Measures } from '../../shared/tokens/count-tokens.js';
import type { DeltaQueue, Parcel } from './delta-queue.js';
import type { OffloadMeter } from './offload-meter.js';
import { MAX_BATCH_CHARACTERS } from './posted-entry.js';
import type { ReadReply } from './reply.js';

/** Threads that count entries for a connection. */
export interface CountingThreads {
  readonly countingThreads: number;
  /** Minimum number of queued entries for which counting on other threads pays. */
  readonly countsFrom: number;
  /** Counts entries; rejects if that failed. @param rank parcels of a lower rank are counted first */
  count(
    contents: readonly IContent[],
    knownTokens: Int32Array,
    signal: AbortSignal,
    rank: number,
  ): Promise<ReadReply<Measures>>;
}

/** A parcel that was taken from the queue. */
export interface InFlightParcel extends Parcel {
  /** Settles when another thread has counted the parcel, or failed to. Never rejects. */
  counting?: Promise<void> | undefined;
  /** Whether another thread has counted the parcel. */
  isCounted: boolean;
}

export interface InFlightParcelsOptions {
  readonly queue: DeltaQueue;
  /** Absent if the worker counts no tokens. */
  readonly threads: CountingThreads | undefined;
  readonly meter: OffloadMeter;
  /** Called with arrived counts. */
  readonly onArrival: (staged: readonly IContent[], tokens: Int32Array) => void;
  /** Called when another thread is done with a parcel. */
  readonly onChange: () => void;
}

/**
 * Maximum text, in UTF-16 units, of parcels that are not answered yet. Below it, the connection's thread helps counting and receives the
 * counted parcels once all are counted, because a total is needed sooner than a plan.
 */
const MAX_HELD_CHARACTERS = 8 * MAX_BATCH_CHARACTERS;

/** The same in parcels, or the number of counting threads and 2: small entries take memory, too. */
export const MAX_HELD_PARCELS = 8;

let histories = 0;

/** The parcels taken from a queue and not answered yet. */
export class InFlightParcels {
  /** The history that began to move in first is counted first: parcel by parcel in turn, many would all be counted late. */
  readonly #rank: number = (histories += 1);
  readonly #options: InFlightParcelsOptions;
  /** The parcels that are not posted yet, in order. */
  readonly #waiting: InFlightParcel[] = [];
  /** These, and those that are posted. */
  readonly #unanswered = new Set<InFlightParcel>();
  readonly #ending = new AbortController();

  constructor(options: InFlightParcelsOptions) {
    this.#options = options;
  }

  /** The next parcel to post. */
  get first(): InFlightParcel | undefined {
    return this.#waiting[0];
  }

  /**
   * Takes the next parcel from the queue: for other threads to count if much is queued, or for the connection if that can receive it now.
   * Returns whether a parcel was taken.
   */
  takeFromQueue(canConnectionTake: boolean): boolean {
    const { queue, threads } = this.#options;
    if (this.#isFull) return false;
    const isBehind = this.#waiting.length > 0;
    const isForOthers =
      threads !== undefined &&
      // `isBehind`: entries added while a long history is being received must not wait for its end to be counted.
      (isBehind || queue.length >= threads.countsFrom) &&
      // One parcel more than there are threads, so that no thread is ever idle.
      this.#counting <= threads.countingThreads;
    if (!isForOthers && (isBehind || !canConnectionTake)) return false;
    const parcel = queue.take();
    if (parcel === undefined) return false;
    const inFlight: InFlightParcel = { ...parcel, isCounted: false };
    if (isForOthers) inFlight.counting = this.#count(inFlight, threads);
    this.#unanswered.add(inFlight);
    this.#waiting.push(inFlight);
    return true;
  }

  /**
   * Takes the next parcel to post; `undefined` if there is none, or if it must wait.
   *
   * @param isHurried whether a caller waits for a plan, not only for counts
   */
  take(isHurried: boolean): InFlightParcel | undefined {
    const { first } = this;
    if (first === undefined || first.counting !== undefined) return undefined;
    const mustWait = this.#counting > 0 && !isHurried && !this.#isFull;
    if (mustWait) return undefined;
    this.#waiting.shift();
    return first;
  }

  /** Whether later results will be too far away to refer to the results of a taken parcel, once the connection has received all others. */
  isOutOfReach(parcel: InFlightParcel): boolean {
    const isAppended = this.#waiting.every(({ isAppend }) => isAppend);
    return parcel.isOutOfReach && isAppended && !this.#options.queue.hasEdits;
  }

  get #isFull(): boolean {
    const parcels = Math.max(MAX_HELD_PARCELS, (this.#options.threads?.countingThreads ?? 0) + 2);
    return (
      charactersOf(this.#unanswered) >= MAX_HELD_CHARACTERS || this.#unanswered.size >= parcels
    );
  }

  /** Notes that the connection has answered a parcel. */
  noteAnswer(parcel: InFlightParcel): void {
    this.#unanswered.delete(parcel);
  }

  /** UTF-16 units of text that were posted and are not acknowledged. */
  get postedCharacters(): number {
    return charactersOf(this.#unanswered) - charactersOf(this.#waiting);
  }

  /** Number of parcels that other threads are counting. */
  get #counting(): number {
    return this.#waiting.filter(({ counting }) => counting !== undefined).length;
  }

  /** Cancels all counting. Final. */
  end(): void {
    this.#ending.abort();
  }

  #count(inFlight: InFlightParcel, threads: CountingThreads): Promise<void> | undefined {
    const [stage, ...others] = inFlight.delta.steps.filter((step) => step.kind === 'stage');
    if (stage === undefined || others.length > 0) return undefined;
    const { meter, onArrival, onChange } = this.#options;
    const { staged, characters } = inFlight;
    const { signal } = this.#ending;
    const finish = (run: () => void): void => {
      inFlight.counting = undefined;
      if (signal.aborted) return;
      run();
      onChange();
    };
    const startedAt = performance.now();
    const counted = threads.count(stage.contents, stage.knownTokens, signal, this.#rank);
    const postedAt = performance.now();
    return counted.then(
      ({ value, runMs }) => {
        finish(() => {
          stage.measures = value;
          inFlight.isCounted = true;
          const work = { task: 'count', ranOn: 'resident', entries: staged.length } as const;
          const times = { startedAt, postedAt, runMs };
          meter.addPosted({ ...work, bytesSent: characters }, times);
          onArrival(staged, value.tokens);
        });
      },
      () => {
        finish(() => {
          meter.addFailure();
        });
      },
    );
  }
}

function charactersOf(parcels: Iterable<InFlightParcel>): number {
  return [...parcels].reduce((sum, { characters }) => sum + characters, 0);
}
