// Shared memory through which a chaos run injects faults into its worker threads and counts them. It survives the thread
// that takes a fault; later threads find it in their environment data.

import { setEnvironmentData } from 'node:worker_threads';

/** The faults, as implemented by `test/support/workers/chaos.mjs`. */
export const FAULTS = [
  'throw',
  'throwNull',
  'exit',
  'exitLater',
  'outOfMemory',
  'loop',
  'never',
  'notCloneable',
  'deep',
  'strayRejection',
  'stackOverflow',
  'garbage',
] as const;

export type Fault = (typeof FAULTS)[number];

/** Where faults occur in the pool: tasks by kind. */
export const TASK_PLACES = ['optimize', 'count', 'open'] as const;

/** Where faults occur on lines: deltas by what they bring or ask for. `moveIn` is one with many entries. */
export const LINE_PLACES = ['receive', 'moveIn', 'plan', 'compress'] as const;

export const PLACES = [...TASK_PLACES, ...LINE_PLACES] as const;

export type Place = (typeof PLACES)[number];

/** By place, one call in this many fails. */
export type FaultPeriods = Readonly<Record<Place, number>>;

/** The key of the environment data. */
const ENVIRONMENT_KEY = 'ctxfold chaos';

/** Calls and faults by place. */
export interface DialReport {
  readonly calls: Readonly<Record<Place, number>>;
  /** Number of faults by place and kind. */
  readonly faults: Readonly<Record<Place, Readonly<Record<Fault, number>>>>;
}

/**
 * Makes every `period`-th call of a place fail, rotating through the faults in an order shuffled by the seed. All tasks
 * share one rotation and all lines another, so that few calls see all faults.
 */
export class ChaosDial {
  /** Whether faults are on. */
  readonly #isOn: Int32Array = sharedNumbers(1);
  /** `0`, or a place and a fault that every call there takes, while nothing else fails. */
  readonly #forced: Int32Array = sharedNumbers(1);
  /** Number of calls by place. */
  readonly #calls: Int32Array = sharedNumbers(PLACES.length);
  /** Number of faults taken, by place and fault. */
  readonly #taken: Int32Array = sharedNumbers(PLACES.length * FAULTS.length);

  constructor(periods: FaultPeriods, random: () => number) {
    const order = shuffled(FAULTS.keys(), random);
    setEnvironmentData(ENVIRONMENT_KEY, {
      isOn: this.#isOn,
      forced: this.#forced,
      calls: this.#calls,
      taken: this.#taken,
      drawn: sharedNumbers(1),
      turns: sharedNumbers(2),
      places: PLACES,
      faults: FAULTS,
      periods: PLACES.map((place) => periods[place]),
      tasks: TASK_PLACES.length,
      order,
    });
  }

  set isOn(isOn: boolean) {
    Atomics.store(this.#isOn, 0, isOn ? 1 : 0);
  }

  /** Makes every call of a place fail in this way, and nothing else; `undefined` ends that. */
  force(place: Place, fault: Fault | undefined): void {
    const index = PLACES.indexOf(place) * FAULTS.length;
    Atomics.store(this.#forced, 0, fault === undefined ? 0 : 1 + index + FAULTS.indexOf(fault));
  }

  get report(): DialReport {
    return {
      calls: byName(PLACES, (place) => this.#calls[PLACES.indexOf(place)] ?? 0),
      faults: byName(PLACES, (place) => byName(FAULTS, (fault) => this.#takenAt(place, fault))),
    };
  }

  /** Whether a call of one of these places has failed in this way. */
  hasTaken(places: readonly Place[], fault: Fault): boolean {
    return places.some((place) => this.#takenAt(place, fault) > 0);
  }

  #takenAt(place: Place, fault: Fault): number {
    return this.#taken[PLACES.indexOf(place) * FAULTS.length + FAULTS.indexOf(fault)] ?? 0;
  }
}

function byName<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
}

function sharedNumbers(length: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * length));
}

function shuffled(values: Iterable<number>, random: () => number): number[] {
  const order = [...values];
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
  return order;
}
