// Validates settings at the boundary, against the registry. The result has own, known, valid values by key, whatever the input:
// aliases are resolved, prototypes are never read or set.

import { isPlainObject } from '../../shared/json.js';
import { isObject, kindOf } from '../../shared/misuse.js';
import { nearestName, shortened, shownText } from '../../shared/shown-text.js';
import type { EphemeralSettings, SettingKey } from './ephemeral-settings.js';
import { SETTINGS_BY_NAME, SETTINGS_REGISTRY } from './settings-registry.js';
import type { SettingSpec } from './settings-registry.js';

/** A problem with given settings. `isKind`: the value is of a wrong type. */
interface Problem {
  readonly message: string;
  readonly isKind: boolean;
}

export interface CheckedSettings {
  readonly settings: EphemeralSettings;
  readonly problems: readonly Problem[];
}

/**
 * Returns the settings in `value` by key. An alias counts as its key; if both are given they must be equal, as neither takes
 * precedence. Settings that are `undefined` are ignored.
 *
 * @throws TypeError for anything but a plain object, an unknown setting, or a value of a wrong type; RangeError for other
 *   invalid values. The message has a line for each.
 */
export function parseEphemeralSettings(value: unknown): EphemeralSettings {
  const { settings, problems } = checkEphemeralSettings(value);
  if (problems.length === 0) return settings;
  const message = problems.map((problem) => problem.message).join('\n');
  throw problems.some((problem) => problem.isKind)
    ? new TypeError(message)
    : new RangeError(message);
}

/** The error message for an unknown setting. It lists all known ones, and asks for the nearest. */
export function unknownSettingMessage(name: unknown): string {
  const known = SETTINGS_REGISTRY.flatMap(({ key, aliases = [] }) => [key, ...aliases]);
  const meant = typeof name === 'string' ? nearestName(name, known) : undefined;
  const question = meant === undefined ? '.' : `; did you mean '${meant}'?`;
  return `Unknown setting '${nameOf(name)}'${question} Known settings: ${known.join(', ')}.`;
}

function nameOf(name: unknown): string {
  if (typeof name === 'symbol') return name.toString();
  return typeof name === 'string' ? shortened(name, MAX_SHOWN_CHARACTERS) : kindOf(name);
}

/** Returns the valid settings in `value` by key, and what is wrong with the others. */
export function checkEphemeralSettings(value: unknown): CheckedSettings {
  // Class instances are refused: their values are rarely own properties, and would be ignored silently.
  if (!isObject(value) || !isPlainObject(value)) {
    const message = `Expected an object of settings, got ${show(value)}.`;
    return { settings: {}, problems: [{ message, isKind: true }] };
  }
  const settings: Partial<Record<SettingKey, unknown>> = {};
  const problems: Problem[] = [];
  for (const name of Reflect.ownKeys(value)) {
    const spec = SETTINGS_BY_NAME.get(name);
    if (spec === undefined) {
      problems.push({ message: unknownSettingMessage(name), isKind: true });
      continue;
    }
    const { key } = spec;
    const given = valueOf(value, name);
    if (given === undefined) continue;
    const problem = checkValue(spec, given) ?? checkAlias(spec, settings[key], given);
    if (problem === undefined) settings[key] = given;
    else problems.push(problem);
  }
  return { settings: settings as EphemeralSettings, problems };
}

/**
 * Getters are not called: they may throw, or return something else next time. The property descriptor stands in, which no
 * setting accepts.
 */
function valueOf(settings: object, name: PropertyKey): unknown {
  const property = Object.getOwnPropertyDescriptor(settings, name);
  return property !== undefined && 'value' in property ? property.value : property;
}

function checkValue(spec: SettingSpec, given: unknown): Problem | undefined {
  const expected = unmet(spec, given);
  if (expected === undefined) return undefined;
  return {
    message: `Expected ${expected} for '${spec.key}', got ${show(given)}.`,
    isKind: typeof given !== (spec.type === 'enum' ? 'string' : spec.type),
  };
}

function checkAlias(spec: SettingSpec, before: unknown, given: unknown): Problem | undefined {
  if (before === undefined || before === given) return undefined;
  const names = [spec.key, ...(spec.aliases ?? [])].map((name) => `'${name}'`).join(' and ');
  const values = `${show(before)} and ${show(given)}`;
  return {
    message: `Expected one value for ${names}, which name the same setting, got ${values}.`,
    isKind: false,
  };
}

/** Returns in words what a setting accepts, if it does not accept the value. */
function unmet(spec: SettingSpec, given: unknown): string | undefined {
  switch (spec.type) {
    case 'boolean':
      return typeof given === 'boolean' ? undefined : 'true or false';
    case 'string':
      return typeof given === 'string' && given !== '' ? undefined : 'text that is not empty';
    case 'enum':
      return spec.enumValues.some((value) => value === given)
        ? undefined
        : `one of ${spec.enumValues.map((value) => `'${value}'`).join(', ')}`;
    case 'number': {
      const { min, exclusiveMin, max } = spec;
      const isWithin =
        typeof given === 'number' &&
        Number.isFinite(given) &&
        given >= (min ?? -Infinity) &&
        given > (exclusiveMin ?? -Infinity) &&
        given <= (max ?? Infinity);
      const bounds = [
        exclusiveMin === undefined ? [] : [`greater than ${exclusiveMin}`],
        min === undefined ? [] : [`of at least ${min}`],
        max === undefined ? [] : [`at most ${max}`],
      ].flat();
      if (isWithin) return undefined;
      return bounds.length === 0 ? 'a finite number' : `a number ${bounds.join(' and ')}`;
    }
  }
}

const MAX_SHOWN_CHARACTERS = 80;

/** A value as messages show it: short and on one line. */
function show(value: unknown): string {
  if (typeof value === 'string') return shownText(value);
  if (typeof value === 'function' || (typeof value === 'object' && value !== null))
    return kindOf(value);
  return shortened(String(value), MAX_SHOWN_CHARACTERS);
}
