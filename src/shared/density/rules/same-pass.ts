// Whether two passes over one history would find the same: so that what was planned ahead serves the pass that
// is asked for.

import { placeholderOf } from '../../density.js';
import type { PassSettings } from '../../density.js';
import { DENSITY_RULES } from './density-rules.js';
import { doPartialWritesSupersede } from './read-write.js';

/** Whether two passes go by the same settings of every rule. */
export function isSamePass(a: PassSettings, b: PassSettings): boolean {
  return (
    placeholderOf(a) === placeholderOf(b) &&
    doPartialWritesSupersede(a) === doPartialWritesSupersede(b) &&
    DENSITY_RULES.every(({ settings }) =>
      settings.every(({ field }) => isSameValue(a[field], b[field])),
    )
  );
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
