// The settings that a pass depends on, and whether two passes would find the same edits.

import { placeholderOf } from '../../density.js';
import type { PassSettings } from '../../density.js';
import { DENSITY_RULES } from './density-rules.js';
import { doPartialWritesSupersede } from './read-write.js';

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
