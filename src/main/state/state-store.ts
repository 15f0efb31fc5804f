// The port to what keeps states and originals for other processes. Stores know nothing of sessions: keys, texts, versions.

/** A state as it is kept. */
export interface StoredState {
  /** JSON. */
  readonly state: string;
  /** Above 0; another one with every save. */
  readonly version: number;
}

/** What became of a save: the version that it has, or `conflict` when somebody else has saved since. */
export type SaveOutcome = number | 'conflict';

/**
 * Keeps states by key. Every operation may reject, and is ended by its deadline: a session goes on without a store that does
 * not answer. Keys are of at most 200 characters and hold no user's text: ids of conversations come as hashes.
 */
export interface StateStore {
  /** Returns the state of a key, or `null`. */
  load(key: string): Promise<StoredState | null>;
  /**
   * Saves a state when the key stands at this version, as one step that nobody can come between.
   *
   * @param expectedVersion `null` when there must be none
   */
  save(key: string, state: string, expectedVersion: number | null): Promise<SaveOutcome>;
  /**
   * Forgets a state and the originals of its key. The versions of the key go on for as long as a state is kept: who knows one of
   * what was there saves nothing over what comes after it.
   */
  delete(key: string): Promise<void>;
  /** Keeps an original under a name of the key, unless there is one. @default originals are not kept */
  put?(key: string, name: string, original: string): Promise<void>;
  /** Returns an original of the key, or `null`. */
  get?(key: string, name: string): Promise<string | null>;
  readonly limits?: StoreLimits | undefined;
}

/** What a store may cost a session. */
export interface StoreLimits {
  /** Longer states are not saved, in bytes. @default 4 MiB */
  readonly maxBytes?: number | undefined;
  /** How long an operation may take, in milliseconds. @default 1_000 */
  readonly deadlineMs?: number | undefined;
}

/** What a store of this package can be told. */
export interface StoreOptions extends StoreLimits {
  /** How long a state is kept after it was saved last, in milliseconds. @default 30 days */
  readonly ttlMs?: number | undefined;
}

/** Stands for a state that was forgotten, or of which only originals came. */
export const NO_STATE = '';

const DAY_MS = 86_400_000;

/** The options with the defaults filled in. @throws RangeError for what is no number above 0. */
export function completeStoreOptions({
  ttlMs = 30 * DAY_MS,
  maxBytes = 4 * 1024 * 1024,
  deadlineMs = 1_000,
}: StoreOptions = {}): Required<StoreOptions> & { readonly ttlMs: number } {
  for (const [name, value] of Object.entries({ ttlMs, maxBytes, deadlineMs })) {
    if (typeof value === 'number' && value > 0) continue;
    throw new RangeError(`Expected ${name} to be a number above 0.`);
  }
  return { ttlMs, maxBytes, deadlineMs };
}
