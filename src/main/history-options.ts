// The options of a history, and their checks.

import type { IngestionLimits } from '../shared/ingestion-limits.js';
import { assertFunction, readOptions } from '../shared/misuse.js';
import type { Checks } from '../shared/misuse.js';
import type { Logger } from './host/logger.js';
import type { CountEntries } from './tokens/token-ledger.js';

export interface HistoryServiceOptions {
  /** Counts tokens. @default an estimate by words */
  readonly countEntries?: CountEntries;
  /** Limits on what an entry may contain. */
  readonly limits?: Partial<IngestionLimits>;
  /** Whether added entries are kept even after edits remove them. @default false */
  readonly keepsAdded?: boolean | undefined;
  readonly logger?: Logger;
}

const CHECKS: Checks<HistoryServiceOptions> = {
  countEntries: assertFunction,
  limits: null,
  keepsAdded: null,
  logger: null,
};

/** Returns a copy. @throws TypeError for options that are none or of a wrong type; RangeError for an unknown option */
export function readHistoryOptions(options: HistoryServiceOptions): HistoryServiceOptions {
  return readOptions('history options', options, CHECKS);
}
