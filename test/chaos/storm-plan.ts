// What a chaos run consists of: who lives in it, how often what goes wrong, and how much time and memory
// things may take.

import type { FaultPeriods } from '../support/chaos-dial.js';
import type { ThreadedMode } from '../support/chaos-session.js';
import type { Way } from '../support/chaos-way.js';

/** One place in the run at which a session lives, and after it the next one. */
export interface Slot {
  readonly mode: ThreadedMode;
  /** Entries that each session there starts with. */
  readonly restored: number;
  /** Tokens. */
  readonly contextLimit: number;
  /** Its share of all passes, relative to others. */
  readonly share: number;
}

/** A context limit that no session reaches. */
export const UNLIMITED = 1_000_000_000;

/** How every life is compacted once the storm is over. */
export const WAY_IN_CALM: Way = {
  strategy: 'high-density',
  edits: 'every-turn',
  ahead: 1,
  isStored: false,
};

/** Long histories mostly move in, short ones are mostly there: so faults meet both. */
export const SLOTS: readonly Slot[] = [
  { mode: 'resident', restored: 10_000, contextLimit: UNLIMITED, share: 1 },
  { mode: 'auto', restored: 10_000, contextLimit: UNLIMITED, share: 1 },
  { mode: 'snapshot', restored: 10_000, contextLimit: UNLIMITED, share: 1 },
  // Grows into being resident.
  { mode: 'auto', restored: 40, contextLimit: UNLIMITED, share: 3 },
  { mode: 'resident', restored: 300, contextLimit: UNLIMITED, share: 3 },
  // Compresses every few passes.
  { mode: 'resident', restored: 60, contextLimit: 16_000, share: 4 },
  { mode: 'snapshot', restored: 60, contextLimit: 16_000, share: 3 },
];

export const PASSES_PER_LIFE = 40;

/** Where the faults of lines are played that the storm has not brought. */
export const SLOT_OF_MISSING: Slot = {
  mode: 'resident',
  restored: 300,
  contextLimit: UNLIMITED,
  share: 0,
};

/** A fault comes with the first call after it was chosen; but for a while after others no thread may take any. */
export const MAX_TRIES_OF_MISSING = 50;

/** Entries that a life takes in at most, besides those that it starts with. */
export const ENTRIES_PER_LIFE: number = PASSES_PER_LIFE * 8;

/** A call in so many goes wrong. */
export const FAULT_PERIODS: FaultPeriods = {
  optimize: 5,
  count: 17,
  'count-packed': 11,
  open: 5,
  receive: 3,
  moveIn: 61,
  plan: 2,
  compress: 2,
};

/** Deadline of a task, in cold starts of a thread: shorter, and a busy machine would only see its own load. */
export const COLD_STARTS_PER_TIMEOUT = 3;
export const MIN_TASK_TIMEOUT_MS = 800;

/**
 * What a window may take, in deadlines of a task: a line gets twelve while its thread answers others,
 * and what follows waits for threads again.
 */
export const TIMEOUTS_PER_PROMISE = 40;

/**
 * How often the calm after the storm is tried: threads that get stuck on a machine with other things to
 * do fail there as well, but not every time.
 */
export const CALM_ATTEMPTS = 5;

export const PASSES_IN_CALM = 4;

/** Memory is judged in runs that are long enough for threads to have come and gone many times. */
export const MIN_PASSES_FOR_MEMORY = 1_000;

/** Memory may grow by so much over the second half of a run, in megabytes: threads come and go. */
export const MAX_GROWTH_MB = 128;
export const MAX_HEAP_GROWTH_MB = 24;

export const PASSES_PER_MEMORY_SAMPLE = 20;
