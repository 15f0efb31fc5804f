// A store in memory: for tests, and for compactors in one process that share conversations.

import { completeStoreOptions, NO_STATE } from './state-store.js';
import type {
  SaveOutcome,
  StateStore,
  StoredState,
  StoreLimits,
  StoreOptions,
} from './state-store.js';

interface Kept extends StoredState {
  readonly expiresAt: number;
  readonly originals: Map<string, string>;
}

const NOTHING: StoredState = { state: NO_STATE, version: 0 };

/** Makes a store that lives as long as the process. */
export function memoryStore(options: StoreOptions = {}): StateStore {
  return new MemoryStore(options);
}

class MemoryStore implements StateStore {
  readonly limits: StoreLimits;
  readonly #ttlMs: number;
  readonly #states = new Map<string, Kept>();

  constructor(options: StoreOptions) {
    const { ttlMs, ...limits } = completeStoreOptions(options);
    this.#ttlMs = ttlMs;
    this.limits = limits;
  }

  load(key: string): Promise<StoredState | null> {
    const kept = this.#find(key);
    return Promise.resolve(
      kept && kept.state !== NO_STATE ? { state: kept.state, version: kept.version } : null,
    );
  }

  save(key: string, state: string, expectedVersion: number | null): Promise<SaveOutcome> {
    const { state: former, version } = this.#find(key) ?? NOTHING;
    if ((former === NO_STATE ? null : version) !== expectedVersion)
      return Promise.resolve('conflict');
    this.#keep(key, { state, version: version + 1 });
    return Promise.resolve(version + 1);
  }

  delete(key: string): Promise<void> {
    const kept = this.#find(key);
    kept?.originals.clear();
    if (kept !== undefined) this.#keep(key, { state: NO_STATE, version: kept.version });
    return Promise.resolve();
  }

  put(key: string, name: string, original: string): Promise<void> {
    const { originals } = this.#find(key) ?? this.#keep(key, NOTHING);
    if (!originals.has(name)) originals.set(name, original);
    return Promise.resolve();
  }

  get(key: string, name: string): Promise<string | null> {
    return Promise.resolve(this.#find(key)?.originals.get(name) ?? null);
  }

  #find(key: string): Kept | undefined {
    const kept = this.#states.get(key);
    if (kept === undefined || kept.expiresAt > Date.now()) return kept;
    this.#states.delete(key);
    return undefined;
  }

  /** Keeps keys in the order of their last save, and drops expired ones from the front. */
  #keep(key: string, state: StoredState): Kept {
    const originals = this.#states.get(key)?.originals ?? new Map<string, string>();
    const kept = { ...state, originals, expiresAt: Date.now() + this.#ttlMs };
    this.#states.delete(key);
    this.#states.set(key, kept);
    for (const [other, { expiresAt }] of this.#states) {
      if (expiresAt > Date.now()) break;
      this.#states.delete(other);
    }
    return kept;
  }
}
