// The tuning command: `npm run fidelity -- <file or folder>... --tune`. Changes no defaults.

import type { RecordedSession } from '../recorded-session.js';
import type { TextTable } from '../policy-table.js';
import { tuningTable, tuningVerdict } from './render-tuning.js';
import { tune } from './tune.js';
import { WORKING_SET } from './working-set.js';

const SPLITS = 5;

/** Tunes on the sessions. */
export function runTuning(contexts: readonly RecordedSession[]): TextTable {
  const report = tune(contexts, WORKING_SET, SPLITS);
  return { ...tuningTable(report), notes: tuningVerdict(report, WORKING_SET.shipped) };
}
