// A store in memory: for tests, and for compactors in one process that share conversations.

import { completeStoreOptions, NO_STATE } from './state-store.js';
import type { StateStore, StoredState, StoreOptions } from './state-store.js';

interface Kept extends StoredState {
  readonly expiresAt: number;
  readonly originals: Map<string, string>;
}

const NOTHING: StoredState = { state: NO_STATE, version: 0 };

/** Makes a store that lives as long as the process. */
export function memoryStore(options: StoreOptions = {}): StateStore {
  const { ttlMs, limits } = completeStoreOptions(options);
  const states = new Map<string, Kept>();

  const find = (key: string): Kept | undefined => {
    const kept = states.get(key);
    if (kept === undefined || kept.expiresAt > Date.now()) return kept;
    states.delete(key);
    return undefined;
  };

  /** Keeps keys in the order of their last save, and drops expired ones from the front. */
  const keep = (key: string, state: StoredState): Kept => {
    const originals = states.get(key)?.originals ?? new Map<string, string>();
    const kept = { ...state, originals, expiresAt: Date.now() + ttlMs };
    states.delete(key);
    states.set(key, kept);
    for (const [other, { expiresAt }] of states) {
      if (expiresAt > Date.now()) break;
      states.delete(other);
    }
    return kept;
  };

  return {
    limits,
    load: (key) => {
      const { state, version } = find(key) ?? NOTHING;
      return Promise.resolve(state === NO_STATE ? null : { state, version });
    },
    save: (key, state, expectedVersion) => {
      const { state: former, version } = find(key) ?? NOTHING;
      const isExpected = (former === NO_STATE ? null : version) === expectedVersion;
      if (isExpected) keep(key, { state, version: version + 1 });
      return Promise.resolve(isExpected ? version + 1 : 'conflict');
    },
    delete: (key) => {
      const kept = find(key);
      kept?.originals.clear();
      if (kept !== undefined) keep(key, { state: NO_STATE, version: kept.version });
      return Promise.resolve();
    },
    put: (key, name, original) => {
      const { originals } = find(key) ?? keep(key, NOTHING);
      if (!originals.has(name)) originals.set(name, original);
      return Promise.resolve();
    },
    get: (key, name) => Promise.resolve(find(key)?.originals.get(name) ?? null),
  };
}
