// The pruning rules in order of precedence: later rules skip what an earlier one marked, unless
// they remove more of it.

import type { DensityRule } from './density-rule.js';
import { FILE_DEDUPE } from './file-dedupe.js';
import type { FileDedupeFinding } from './file-dedupe.js';
import { doPartialWritesSupersede, READ_WRITE } from './read-write.js';
import type { ReadWriteFinding } from './read-write.js';
import { RECENCY } from './recency.js';
import type { RecencyFinding } from './recency.js';
import { SHRINK } from './shrink.js';
import type { ShrinkFinding } from './shrink.js';
import { WORKING_SET } from './working-set.js';
import type { WorkingSetFinding } from './working-set.js';
import { placeholderOf } from '../../density.js';
import type { PassSettings } from '../../density.js';

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

/** The fields of `PassSettings` that belong to rules. */
const FIELDS = DENSITY_RULES.flatMap(({ settings }) => settings.map(({ field }) => field));

/**
 * Whether two passes have the same settings for every rule, so that a plan made ahead for one
 * serves the other.
 */
export function isSamePass(a: PassSettings, b: PassSettings): boolean {
  return (
    placeholderOf(a) === placeholderOf(b) &&
    doPartialWritesSupersede(a) === doPartialWritesSupersede(b) &&
    FIELDS.every((field) => isSameValue(a[field], b[field]))
  );
}

/**
 * Picks the pass settings out of a configuration. Tool catalogs, about 100 times their size, are
 * left out: a resident history knows them from the start.
 */
export function passSettingsOf(config: PassSettings): PassSettings {
  const { placeholder, partialWritesSupersede } = config;
  const settings: Partial<Record<keyof PassSettings, unknown>> = {
    placeholder,
    partialWritesSupersede,
  };
  for (const field of FIELDS) settings[field] = config[field];
  return settings as unknown as PassSettings;
}

/** Settings are flat: primitives, or objects of primitives. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const fields = Object.entries(a);
  const others: Readonly<Record<string, unknown>> = { ...b };
  return (
    fields.length === Object.keys(others).length &&
    fields.every(([name, value]) => Object.is(value, others[name]))
  );
}
