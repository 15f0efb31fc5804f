// The port to a store that keeps states and originals for other processes. Stores handle keys, texts and versions only.

import { asError, CtxfoldError, isError, systemCode } from '../../shared/errors.js';
import { readOptions } from '../../shared/misuse.js';
import type { Check, Checks } from '../../shared/misuse.js';
import { adviceFor } from '../removal-log/removal-log-errors.js';

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

/**
 * Reads what a store has loaded, where its errors are caught.
 *
 * @throws TypeError for anything else, such as a version as text, which is what PostgreSQL's clients make of a BIGINT.
 */
export function readStored({ state, version }: StoredState): StoredState {
  if (typeof state === 'string' && typeof version === 'number') return { state, version };
  throw new TypeError('Expected load to return null, or a text as state and a number as version.');
}

/** The error for what a store threw. */
export function storeFailed(cause: unknown): CtxfoldError {
  if (isError(cause) && cause instanceof CtxfoldError) return cause;
  // If a host name has several addresses, Node's AggregateError has no message.
  const reason = asError(cause).message || systemCode(cause);
  const message = `The store failed (${reason ?? 'without a reason'}).${adviceFor(cause)}`;
  return new CtxfoldError(message, 'STORE_FAILED', { cause });
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

const assertPositive: Check = (name, value) => {
  if (typeof value === 'number' && value > 0) return;
  throw new RangeError(`Expected ${name} to be a number above 0.`);
};

const CHECKS: Checks<StoreOptions> = {
  ttlMs: assertPositive,
  maxBytes: assertPositive,
  deadlineMs: assertPositive,
};

/**
 * Fills in the defaults.
 *
 * @param own checks of options that only this store has
 * @throws RangeError for an unknown option, and for anything but a positive number.
 */
export function completeStoreOptions(
  options: StoreOptions,
  own: Readonly<Record<string, Check>> = {},
): { readonly ttlMs: number; readonly limits: StoreLimits } {
  const {
    ttlMs = 30 * DAY_MS,
    maxBytes = DEFAULT_LIMITS.maxBytes,
    deadlineMs = DEFAULT_LIMITS.deadlineMs,
  } = readOptions('store options', options, { ...CHECKS, ...own });
  return { ttlMs: Math.min(ttlMs, MAX_TTL_MS), limits: { maxBytes, deadlineMs } };
}
