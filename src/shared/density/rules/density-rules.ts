// The rules of a density pass, in order of precedence: what one has taken the next ones leave alone, unless they
// take more of it. Whatever goes by rule goes through this list.

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

/** What a rule says of something that it looked at. */
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

/** What is to know of a rule from outside. */
export interface PruningRule {
  readonly name: RuleName;
  /** What reports call one thing that it takes. */
  readonly item: string;
}

/** The rules of pruning, in the order in which they run and reports list them. */
export const PRUNING_RULES: readonly PruningRule[] = DENSITY_RULES.map(({ name, item }) => ({
  name,
  item,
}));

/** What rules are set by. */
const FIELDS = DENSITY_RULES.flatMap(({ settings }) => settings.map(({ field }) => field));

/** Whether two passes go by the same settings of every rule. */
export function isSamePass(a: PassSettings, b: PassSettings): boolean {
  return (
    placeholderOf(a) === placeholderOf(b) &&
    doPartialWritesSupersede(a) === doPartialWritesSupersede(b) &&
    FIELDS.every((field) => isSameValue(a[field], b[field]))
  );
}

/**
 * The settings of a pass and nothing else of its configuration: the tools of an agent are a hundred times as much, and a history
 * knows them from its beginning.
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

/** Settings are flat: values, or values by name. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const fields = Object.entries(a);
  const others: Readonly<Record<string, unknown>> = { ...b };
  return (
    fields.length === Object.keys(others).length &&
    fields.every(([name, value]) => Object.is(value, others[name]))
  );
}
