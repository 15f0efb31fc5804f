// What becomes of the settings of density: those of the rules of pruning, whatever rules there are (`compression.density.fileDedupe`
// by an accessor `densityFileDedupe`, into the field `fileDedupe` of a pass), and what stands in place of results.

import type { DensityConfig, PassSettings, PlaceholderForm } from '../../shared/density.js';
import { DENSITY_RULES } from '../../shared/density/rules/density-rules.js';
import type { RuleSetting } from '../../shared/density/rules/density-rule.js';
import type { RuntimeEphemerals } from '../strategies/strategy.js';

const RULE_SETTINGS: readonly RuleSetting[] = DENSITY_RULES.flatMap(({ settings }) => settings);

/** The accessors of what rules are set by. */
export type RuleAccessors = Pick<
  RuntimeEphemerals,
  | 'densityReadWritePruning'
  | 'densityFileDedupe'
  | 'densityRecencyPruning'
  | 'densityRecencyRetention'
>;

/** Makes the accessors of all rules' settings; `read` is given the key of one. */
export function ruleAccessors(
  read: (key: `compression.density.${string}`) => unknown,
): RuleAccessors {
  const accessors: Record<string, () => unknown> = {};
  for (const { field } of RULE_SETTINGS) {
    accessors[accessorOf(field)] = () => read(`compression.density.${field}`);
  }
  // A key has a value of the type that its accessor says: see EphemeralSettings.
  return accessors as unknown as RuleAccessors;
}

/**
 * Returns what the rules are set to.
 *
 * @param given what the session was created with
 */
export function ruleSettings(
  ephemerals: RuntimeEphemerals,
  given: Partial<DensityConfig>,
): Partial<PassSettings> {
  const settings: Record<string, unknown> = {};
  for (const setting of RULE_SETTINGS) {
    const { field } = setting;
    const set = ephemerals[accessorOf(field)]?.();
    const value =
      setting.type === 'enum'
        ? setting.valueOf(typeof set === 'string' ? set : setting.enumValues[0], given[field])
        : set;
    if (value !== undefined) settings[field] = value;
  }
  return settings;
}

function accessorOf(field: string): `density${string}` {
  return `density${field.charAt(0).toUpperCase()}${field.slice(1)}`;
}

/** The values of the setting `compression.density.placeholder`. */
export const PLACEHOLDER_STYLES = ['pointer', 'informative'] as const;

export type PlaceholderStyle = (typeof PLACEHOLDER_STYLES)[number];

/** Returns the form of a style in a session that has a transcript to recall from, or has none. */
export function placeholderFormOf(style: PlaceholderStyle, canRecall: boolean): PlaceholderForm {
  return style === 'informative' && canRecall ? 'recallable' : style;
}
