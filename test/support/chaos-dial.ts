// The shared memory by which a chaos run steers the faults of its worker threads and counts them. It
// survives the thread that takes a fault; threads started later find it in their environment data.

import { setEnvironmentData } from 'node:worker_threads';

/** What goes wrong. `test/support/workers/chaos.mjs` knows how. */
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

/** Where it goes wrong: tasks of the pool by kind. */
export const TASK_PLACES = ['optimize', 'count', 'count-packed', 'open'] as const;

/** Calls on lines by name; `moveIn` is a delta of many entries. */
export const LINE_PLACES = ['receive', 'moveIn', 'plan', 'compress'] as const;

export const PLACES = [...TASK_PLACES, ...LINE_PLACES] as const;

export type Place = (typeof PLACES)[number];

/** By place, how many calls there are to one that goes wrong. */
export type FaultPeriods = Readonly<Record<Place, number>>;

/** The key of the environment data that threads read. */
const ENVIRONMENT_KEY = 'ctxfold chaos';

/** What was done, by place. */
export interface DialReport {
  readonly calls: Readonly<Record<Place, number>>;
  /** By place and fault, how often it was taken. */
  readonly faults: Readonly<Record<Place, Readonly<Record<Fault, number>>>>;
}

/**
 * Every `period`-th call of a place goes wrong, by each fault in turn, in an order that the seed
 * shuffles. Tasks take turns with tasks, and lines with lines, so that few calls see all faults.
 */
export class ChaosDial {
  /** One number: whether faults are on. */
  readonly #isOn: Int32Array = sharedNumbers(1);
  /** One number: `0`, or a place and a fault that every call there takes, while nothing else goes wrong. */
  readonly #forced: Int32Array = sharedNumbers(1);
  /** By place, calls so far. */
  readonly #calls: Int32Array = sharedNumbers(PLACES.length);
  /** By place and fault, how often it was taken. */
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

  /** Has every call of a place go wrong in this way, and nothing else; `undefined` ends that. */
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

  /** Whether a call of one of these places has gone wrong in this way. */
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
