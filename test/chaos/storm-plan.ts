// The parameters of a chaos run: its sessions, fault rates, and limits for time and memory.

import type { FaultPeriods } from '../support/chaos-dial.js';
import type { ThreadedMode } from '../support/chaos-session.js';
import type { Way } from '../support/chaos-way.js';

/** A place in the run with one session after another. */
export interface Slot {
  readonly mode: ThreadedMode;
  /** Initial entries of each session. */
  readonly restored: number;
  /** Tokens. */
  readonly contextLimit: number;
  /** Its relative share of all passes. */
  readonly share: number;
}

/** A context limit beyond any session. */
export const UNLIMITED = 1_000_000_000;

/** How sessions are compacted after the storm. */
export const WAY_IN_CALM: Way = {
  strategy: 'high-density',
  edits: 'every-turn',
  ahead: 1,
  isStored: false,
};

/** Long histories are mostly still moving in, short ones mostly resident, so faults hit both. */
export const SLOTS: readonly Slot[] = [
  { mode: 'resident', restored: 10_000, contextLimit: UNLIMITED, share: 1 },
  { mode: 'auto', restored: 10_000, contextLimit: UNLIMITED, share: 1 },
  { mode: 'snapshot', restored: 10_000, contextLimit: UNLIMITED, share: 1 },
  // Grows until it becomes resident.
  { mode: 'auto', restored: 40, contextLimit: UNLIMITED, share: 3 },
  { mode: 'resident', restored: 300, contextLimit: UNLIMITED, share: 3 },
  // Compresses every few passes.
  { mode: 'resident', restored: 60, contextLimit: 16_000, share: 4 },
  { mode: 'snapshot', restored: 60, contextLimit: 16_000, share: 3 },
];

export const PASSES_PER_LIFE = 40;

/** The slot for line faults that did not occur in the storm. */
export const SLOT_OF_MISSING: Slot = {
  mode: 'resident',
  restored: 300,
  contextLimit: UNLIMITED,
  share: 0,
};

/** A forced fault hits the first call after it was chosen, but after other faults threads may be suspended for a while. */
export const MAX_TRIES_OF_MISSING = 50;

/** Maximum number of entries added in a life. */
export const ENTRIES_PER_LIFE: number = PASSES_PER_LIFE * 8;

/** By place, one call in this many fails. */
export const FAULT_PERIODS: FaultPeriods = {
  optimize: 5,
  count: 17,
  open: 5,
  receive: 3,
  moveIn: 61,
  plan: 2,
  compress: 2,
};

/** Deadline of a task, in cold starts of a thread. If shorter, a busy machine would trigger it by load alone. */
export const COLD_STARTS_PER_TIMEOUT = 3;
export const MIN_TASK_TIMEOUT_MS = 800;

/**
 * Limit for a window, in task deadlines: a line gets twelve while its thread answers others, and what follows waits for
 * threads again.
 */
export const TIMEOUTS_PER_PROMISE = 40;

/** Attempts of the calm phase after the storm: on a busy machine, stuck threads can make one fail, but not all. */
export const CALM_ATTEMPTS = 5;

export const PASSES_IN_CALM = 4;

/** Shorter runs do not replace threads often enough to judge memory. */
export const MIN_PASSES_FOR_MEMORY = 1_000;

/** Allowed growth in megabytes over the second half of a run, in which threads come and go. */
export const MAX_GROWTH_MB = 128;
export const MAX_HEAP_GROWTH_MB = 24;

export const PASSES_PER_MEMORY_SAMPLE = 20;
