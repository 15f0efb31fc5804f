// The parcels of one line between its queue and the line: other threads count what is in them, in any order, while the line
// gets them in theirs. What those threads fail at is left to the line's own.

import type { IContent } from '../../shared/content.js';
import { FAR_RESULTS } from '../../shared/density/index/unsent-results.js';
import type { PackedCounts, PackedEntries } from '../../shared/packed-entries.js';
import { MAX_BATCH_CHARACTERS } from './count-batches.js';
import type { DeltaQueue, Parcel } from './delta-queue.js';
import type { OffloadMeter } from './offload-meter.js';
import { MAX_FREE_BUFFERS } from './pack-entries.js';
import type { ReadReply } from './reply.js';

/** Threads that count entries which are to go over a line. */
export interface CountingThreads {
  readonly countingThreads: number;
  /** How many entries have to wait for that to be worth the way there. */
  readonly countsFrom: number;
  /** Rejects when they were not counted. */
  count(
    packed: PackedEntries,
    knownTokens: Int32Array,
    signal: AbortSignal,
  ): Promise<ReadReply<PackedCounts>>;
}

/** A parcel on its way. */
export interface DrawnParcel extends Parcel {
  /** Ends when others have counted it, or failed to. Never rejects. */
  counting?: Promise<void> | undefined;
  /** Whether they have. */
  isCounted: boolean;
  /** Whether nothing of its results will be looked for once the line has those behind it. */
  isFar?: boolean;
}

export interface DrawnParcelsOptions {
  readonly queue: DeltaQueue;
  /** Absent when nothing is counted. */
  readonly threads: CountingThreads | undefined;
  readonly meter: OffloadMeter;
  /** Told of counts that came in. */
  readonly onArrival: (staged: readonly IContent[], tokens: Int32Array) => void;
  /** Told when others are done with a parcel. */
  readonly onChange: () => void;
}

/**
 * Text that waits for the line at most once it was counted. Until then the line's thread counts with the others, and takes in
 * what was counted when all is: a total is waited for sooner than a plan.
 */
const MAX_HELD_CHARACTERS = 8 * MAX_BATCH_CHARACTERS;

/** Entries that are sent as bytes when so many come in at once; fewer are cloned sooner. */
const MIN_PACKED = 32;

/** What was taken from a queue and is not answered yet. */
export class DrawnParcels {
  readonly #options: DrawnParcelsOptions;
  readonly #waiting: DrawnParcel[] = [];
  readonly #ending = new AbortController();
  /** Parcels that others count now. */
  #counting = 0;
  /** Text in all that is not answered, and in how many parcels. */
  #characters = 0;
  #unanswered = 0;

  constructor(options: DrawnParcelsOptions) {
    this.#options = options;
  }

  /** The one whose turn it is, and has not been taken yet. */
  get first(): DrawnParcel | undefined {
    return this.#waiting[0];
  }

  /**
   * Takes the next parcel from the queue: for others to count when much waits, or because the line can have it now. Returns
   * whether there was one.
   */
  draw(canLineTake: boolean): boolean {
    const { queue, threads } = this.#options;
    if (this.#isFull) return false;
    const isBehind = this.#waiting.length > 0;
    const isForOthers =
      threads !== undefined &&
      // What comes behind a long history is not to wait for that to be taken in.
      (isBehind || queue.length >= threads.countsFrom) &&
      // One more than can be counted, so that no thread waits for the next.
      this.#counting <= threads.countingThreads;
    if (!isForOthers && (isBehind || !canLineTake)) return false;
    const parcel = queue.take(isForOthers ? 1 : MIN_PACKED);
    if (parcel === undefined) return false;
    const drawn: DrawnParcel = { ...parcel, isCounted: false };
    if (isForOthers) drawn.counting = this.#count(drawn, threads);
    this.#characters += parcel.characters;
    this.#unanswered += 1;
    this.#waiting.push(drawn);
    return true;
  }

  /**
   * Takes the one whose turn it is; `undefined` when there is none, or it is not to be posted yet.
   *
   * @param isHurried whether somebody waits for a plan, and not for counts alone
   */
  take(isHurried: boolean): DrawnParcel | undefined {
    const { first } = this;
    if (first === undefined || first.counting !== undefined) return undefined;
    const isHeld = this.#counting > 0 && !isHurried && !this.#isFull;
    if (isHeld) return undefined;
    this.#waiting.shift();
    if (this.#areEnoughBehind) first.isFar = true;
    return first;
  }

  get #isFull(): boolean {
    // Each parcel has a buffer of its own, however little is in it.
    const parcels = Math.max(MAX_FREE_BUFFERS, (this.#options.threads?.countingThreads ?? 0) + 2);
    return this.#characters >= MAX_HELD_CHARACTERS || this.#unanswered >= parcels;
  }

  get #areEnoughBehind(): boolean {
    let results = 0;
    for (const parcel of this.#waiting) {
      // An edit may take away what is counted on.
      if (!parcel.isAppend) return false;
      if (parcel.isAnswered && results >= FAR_RESULTS) return true;
      results += parcel.results;
    }
    return this.#options.queue.holds(FAR_RESULTS - results);
  }

  /** Notes that the line has answered one. */
  noteAnswer({ characters }: DrawnParcel): void {
    this.#characters -= characters;
    this.#unanswered -= 1;
  }

  /** Has nobody count any more. Final. */
  end(): void {
    this.#ending.abort();
  }

  #count(drawn: DrawnParcel, threads: CountingThreads): Promise<void> | undefined {
    const stages = drawn.delta.steps.filter((step) => 'knownTokens' in step);
    const [stage] = stages;
    if (stages.length !== 1 || stage?.kind !== 'stage-packed') return undefined;
    const { meter, onArrival, onChange } = this.#options;
    const { staged, characters } = drawn;
    const { signal } = this.#ending;
    const finish = (run: () => void): void => {
      this.#counting -= 1;
      drawn.counting = undefined;
      if (signal.aborted) return;
      run();
      onChange();
    };
    this.#counting += 1;
    const startedAt = performance.now();
    const counted = threads.count(stage.packed, stage.knownTokens, signal);
    const postedAt = performance.now();
    return counted.then(
      ({ value, runMs }) => {
        finish(() => {
          stage.counts = value;
          drawn.isCounted = true;
          const work = { task: 'count', ranOn: 'resident', entries: staged.length } as const;
          const times = { startedAt, postedAt, queueMs: 0, runMs };
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
