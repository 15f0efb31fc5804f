// Reads and restores what edits have removed: exports only.

export { readRemovals } from './main/removal-log/removal-reader.js';
export type {
  LocatedRemoval,
  ReadRemovalsOptions,
  RemovalReading,
  SkippedBytes,
} from './main/removal-log/removal-reader.js';
export type { RemovalKind, RemovalRecord, SkipReason } from './main/removal-log/removal-record.js';
export { listRemoved } from './main/removal-log/list-removed.js';
export type { RemovedResult } from './main/removal-log/list-removed.js';
export { removalLogPathIn } from './main/removal-log/removal-log-path.js';
export { restore } from './main/removal-log/restore.js';
export type { RestoredResponse } from './main/removal-log/restore.js';
export type { RestoreOptions } from './main/removal-log/restore-latest.js';
export type { SessionScope } from './main/removal-log/session-scope.js';
