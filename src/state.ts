// Sessions that outlive their process: what a session's state holds, and what comes of one. Names, nothing else.

export type { StateDivergence } from './main/state/resume.js';
export type {
  CostMemory,
  PassMemory,
  RequestMemory,
  SentMemory,
  SessionMemory,
  TallyMemory,
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
export type { ModelMemory, SessionState } from './main/state/session-state.js';
