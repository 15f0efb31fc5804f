// What `npm run fidelity` measures besides the policies, by the name of the option. Each returns one table, and plays its sessions
// alone.

import { compactionTable } from './compaction-report.js';
import { excerptTable } from './excerpt-report.js';
import { fiveLinesTable } from './five-lines-report.js';
import { hostChangesTable } from './host-changes-report.js';
import { metamorphicTable } from './metamorphic-report.js';
import { moneyTable } from './money-report.js';
import type { TextTable } from './policy-table.js';
import type { RecordedSession } from './recorded-session.js';
import { shrinkingTable } from './shrinking-report.js';
import { runTuning } from './tuning/run-tuning.js';

export const MODES = {
  'five-lines': fiveLinesTable,
  metamorphic: metamorphicTable,
  hosts: hostChangesTable,
  shrink: shrinkingTable,
  excerpts: excerptTable,
  money: moneyTable,
  compaction: compactionTable,
  tune: runTuning,
} as const satisfies Readonly<
  Record<string, (contexts: readonly RecordedSession[]) => TextTable | Promise<TextTable>>
>;

export type Mode = keyof typeof MODES;
