// Persistent session state: its types and its stores. Exports only.

export type { StateDivergence } from './main/state/resume.js';
export type {
  CostMemory,
  ModelMemory,
  PassMemory,
  RequestMemory,
  SentMemory,
  SessionMemory,
  SessionState,
  TallyMemory,
  UsageMemory,
} from './main/state/session-state.js';
export { directoryStore } from './main/state/directory-store.js';
export { openStore } from './main/state/open-store.js';
export type { OpenedStore } from './main/state/open-store.js';
export { memoryStore } from './main/state/memory-store.js';
export type {
  SaveOutcome,
  StateStore,
  StoredState,
  StoreLimits,
  StoreOptions,
} from './main/state/state-store.js';
