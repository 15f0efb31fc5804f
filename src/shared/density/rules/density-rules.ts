// The pruning rules in order of precedence: later rules skip what an earlier one marked, unless
// they remove more of it.

import type { PassSettings } from '../../density.js';
import type { DensityRule } from './density-rule.js';
import { FILE_DEDUPE } from './file-dedupe.js';
import type { FileDedupeFinding } from './file-dedupe.js';
import { READ_WRITE } from './read-write.js';
import type { ReadWriteFinding } from './read-write.js';
import { RECENCY } from './recency.js';
import type { RecencyFinding } from './recency.js';
import { SHRINK } from './shrink.js';
import type { ShrinkFinding } from './shrink.js';
import { WORKING_SET } from './working-set.js';
import type { WorkingSetFinding } from './working-set.js';

/** A finding of any rule. */
export type RuleFinding =
  ReadWriteFinding | FileDedupeFinding | RecencyFinding | WorkingSetFinding | ShrinkFinding;

/** The name of a rule. */
export type RuleName = RuleFinding['rule'];

/** All rules. */
export const DENSITY_RULES: readonly DensityRule<RuleFinding>[] = [
  READ_WRITE,
  FILE_DEDUPE,
  RECENCY,
  SHRINK,
  WORKING_SET,
];

/** Whether a rule takes part in a pass. */
export function isOn(
  { settings: [{ field }] }: DensityRule<RuleFinding>,
  pass: PassSettings,
): boolean {
  const value = pass[field];
  return value !== undefined && value !== false && value !== 'off';
}

/** A rule as reports see it. */
export interface PruningRule {
  readonly name: RuleName;
  /** What reports call one removed item. */
  readonly item: string;
}

/** The pruning rules in the order in which they run and are listed in reports. */
export const PRUNING_RULES: readonly PruningRule[] = DENSITY_RULES.map(({ name, item }) => ({
  name,
  item,
}));
