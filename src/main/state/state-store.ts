// The port to a store that keeps states and originals for other processes. Stores handle keys, texts and versions only.

/** A stored state. */
export interface StoredState {
  /** JSON. */
  readonly state: string;
  /** Positive, and different after every save. */
  readonly version: number;
}

/** The outcome of a save: its version, or `conflict` if another process has saved since. */
export type SaveOutcome = number | 'conflict';

/**
 * Stores states by key. Every operation may reject, and has a deadline: a session continues without a store that does not answer.
 * Keys and names have at most 200 characters and contain no user text: ids of conversations and calls are hashed.
 */
export interface StateStore {
  /** Returns the state of a key, or `null`. */
  load(key: string): Promise<StoredState | null>;
  /**
   * Atomically saves a state if the key is at this version.
   *
   * @param expectedVersion `null` if the key must not exist
   */
  save(key: string, state: string, expectedVersion: number | null): Promise<SaveOutcome>;
  /**
   * Deletes a state and the originals of its key. Version numbers continue for as long as a state is kept, so that a process
   * that knows an old version cannot overwrite later states.
   */
  delete(key: string): Promise<void>;
  /** Stores an original under a name of the key, unless there is one. @default originals are not stored */
  put?(key: string, name: string, original: string): Promise<void>;
  /** Returns an original of the key, or `null`. */
  get?(key: string, name: string): Promise<string | null>;
  readonly limits?: StoreLimits | undefined;
}

/** Limits on what a store may cost a session. */
export interface StoreLimits {
  /** Longer states are not saved, in bytes. @default 4 MiB */
  readonly maxBytes?: number | undefined;
  /** Timeout of an operation, in milliseconds. @default 1_000 */
  readonly deadlineMs?: number | undefined;
}

/** Options of the stores in this package. */
export interface StoreOptions extends StoreLimits {
  /** How long a state is kept after its last save, in milliseconds; at most a century. @default 30 days */
  readonly ttlMs?: number | undefined;
}

/** The text that stands for a deleted state, or for a key that only has originals. */
export const NO_STATE = '';

export const DEFAULT_LIMITS: { readonly maxBytes: number; readonly deadlineMs: number } = {
  maxBytes: 4 * 1024 * 1024,
  deadlineMs: 1_000,
};

const DAY_MS = 86_400_000;

/** A century. Caps `Infinity`, which no database accepts. */
const MAX_TTL_MS = 36_500 * DAY_MS;

/** Fills in the defaults. @throws RangeError for anything but a positive number. */
export function completeStoreOptions({
  ttlMs = 30 * DAY_MS,
  maxBytes = DEFAULT_LIMITS.maxBytes,
  deadlineMs = DEFAULT_LIMITS.deadlineMs,
}: StoreOptions): { readonly ttlMs: number; readonly limits: StoreLimits } {
  for (const [name, value] of Object.entries({ ttlMs, maxBytes, deadlineMs })) {
    if (typeof value === 'number' && value > 0) continue;
    throw new RangeError(`Expected ${name} to be a number above 0.`);
  }
  return { ttlMs: Math.min(ttlMs, MAX_TTL_MS), limits: { maxBytes, deadlineMs } };
}
