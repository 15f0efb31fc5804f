// What a pass over a history goes by, and whether two passes would find the same: so that what was planned ahead serves the
// pass that is asked for.

import { placeholderOf } from '../../density.js';
import type { PassSettings } from '../../density.js';
import { DENSITY_RULES } from './density-rules.js';
import { doPartialWritesSupersede } from './read-write.js';

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
