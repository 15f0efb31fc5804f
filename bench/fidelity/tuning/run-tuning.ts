// The tuning command: `npm run fidelity -- <file or folder>... --tune`. Changes no defaults.

import type { RecordedSession } from '../recorded-session.js';
import { renderTable } from '../render.js';
import { tuningTable, tuningVerdict } from './render-tuning.js';
import { tune } from './tune.js';
import { WORKING_SET } from './working-set.js';

const SPLITS = 5;

/** Tunes on the sessions. Returns the output. */
export function runTuning(contexts: readonly RecordedSession[]): string {
  const report = tune(contexts, WORKING_SET, SPLITS);
  return [renderTable(tuningTable(report)), ...tuningVerdict(report, WORKING_SET.shipped)].join(
    '\n',
  );
}
