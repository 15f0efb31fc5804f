// How misuse of an argument is told: what was expected, where, and what kind of value came. Looks at
// kinds and never at content; whatever the value is, nothing of it runs.

import { types } from 'node:util';
import { isRecord } from './json.js';
import type { JsonRecord } from './json.js';
import { isPlainName, isShortWord, nearestName, shownText } from './shown-text.js';

/**
 * Says that a value is not what it has to be.
 *
 * @throws TypeError always.
 */
export function refuse(where: string, expected: string, value: unknown): never {
  throw new TypeError(`Expected ${expected} at ${where}, got ${kindOf(value)}.`);
}

/** Returns the object that a value has to be: no array, and nothing that answers for another one. */
export function asObject(value: unknown, where: string, expected: string): JsonRecord {
  return isObject(value) ? value : refuse(where, expected, value);
}

/** Whether that is an object, and neither an array nor a proxy. */
export function isObject(value: unknown): value is JsonRecord {
  return !types.isProxy(value) && isRecord(value);
}

/**
 * Reads options once: returns what they say as an object of its own, which says the same from then on.
 *
 * @throws TypeError for what is no object, and for one that throws when it is read.
 */
export function readOptions<Options extends object>(name: string, options: Options): Options {
  if (!isObject(options))
    throw new TypeError(`Expected ${name} to be an object, got ${kindOf(options)}.`);
  try {
    return { ...options };
  } catch (cause) {
    throw new TypeError(`Expected ${name} that can be read; a getter of them threw.`, { cause });
  }
}

/**
 * Refuses options that there are none of; one that is `undefined` is not given.
 *
 * @throws RangeError that names each of them, and what it is likely to be meant for.
 */
export function assertKnownOptions(
  name: string,
  options: Readonly<Record<string, unknown>>,
  known: readonly string[],
): void {
  const unknown = Object.keys(options).filter(
    (key) => options[key] !== undefined && !known.includes(key),
  );
  if (unknown.length === 0) return;
  const lines = unknown.map((key) => {
    const meant = nearestName(key, known);
    return `${shownText(key)}${meant === undefined ? '' : ` (did you mean '${meant}'?)`}`;
  });
  throw new RangeError(`Invalid ${name}: there is no option ${lines.join(', ')}.`);
}

/** @throws TypeError for what is no function. */
export function assertFunction(name: string, value: unknown): void {
  if (typeof value === 'function') return;
  throw new TypeError(`Expected ${name} to be a function, got ${kindOf(value)}.`);
}

/** @throws TypeError for what is no string. */
export function assertString(name: string, value: unknown): void {
  if (typeof value === 'string') return;
  throw new TypeError(`Expected ${name} to be a string, got ${kindOf(value)}.`);
}

/** @throws TypeError naming the value, when it is neither true nor false. */
export function assertBoolean(name: string, value: unknown): void {
  if (typeof value === 'boolean') return;
  throw new TypeError(`Expected ${name} to be a boolean, got ${kindOf(value)}.`);
}

/** @throws TypeError for what is no array. */
export function assertArray(name: string, value: unknown): void {
  if (isArray(value)) return;
  throw new TypeError(`Expected ${name} to be an array, got ${kindOf(value)}.`);
}

/** @throws TypeError for what is neither an `AbortSignal` nor `undefined`. */
export function assertSignal(value: unknown): asserts value is AbortSignal | undefined {
  if (value === undefined || isInstance(value, AbortSignal)) return;
  throw new TypeError(`Expected signal to be an AbortSignal, got ${kindOf(value)}.`);
}

/** Whether that is an array, of any realm, that is walked over as arrays are. `Array.isArray` throws for a revoked proxy. */
export function isArray(value: unknown): value is readonly unknown[] {
  if (types.isProxy(value) || !Array.isArray(value)) return false;
  return Symbol.iterator in value && !Object.hasOwn(value, Symbol.iterator);
}

/** Whether that has functions by these names. */
export function hasFunctions(value: unknown, names: readonly string[]): boolean {
  const methods = value as Readonly<Record<string, unknown>> | null | undefined;
  return names.every((name) => typeof methods?.[name] === 'function');
}

/** Whether that is of a class; a proxy of one has none of its private parts. */
export function isInstance<Instance>(
  value: unknown,
  ofClass: abstract new (...parts: never[]) => Instance,
): value is Instance {
  return !types.isProxy(value) && value instanceof ofClass;
}

/** Returns an element. @throws TypeError when it is a getter that throws. */
export function elementAt(name: string, values: readonly unknown[], at: number): unknown {
  try {
    return values[at];
  } catch (cause) {
    throw new TypeError(`Expected ${name} that can be read; element ${at} threw.`, { cause });
  }
}

/** @throws TypeError for what is no number. */
export function assertNumber(name: string, value: unknown): void {
  if (typeof value === 'number') return;
  throw new TypeError(`Expected ${name} to be a number, got ${kindOf(value)}.`);
}

/**
 * Checks a number of tokens that a caller names.
 *
 * @throws TypeError when it is no number; RangeError when it is negative or not finite.
 */
export function assertTokens(name: string, tokens: number): void {
  assertNumber(name, tokens);
  if (tokens >= 0 && Number.isFinite(tokens)) return;
  throw new RangeError(`Expected ${name} of at least 0, got ${tokens}.`);
}

/** What kind of value that is, in a few words. */
export function kindOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return isShortWord(value) ? `the string "${value}"` : shownText(value);
    case 'object':
      return value === null ? 'null' : kindOfObject(value);
    case 'number':
      return `the number ${Object.is(value, -0) ? '-0' : value}`;
    case 'undefined':
      return 'undefined';
    default:
      return `a ${typeof value}`;
  }
}

function kindOfObject(value: object): string {
  if (types.isProxy(value)) return 'a Proxy';
  if (Array.isArray(value)) return 'an array';
  const prototype: unknown = Object.getPrototypeOf(value);
  const maker: unknown = ownValue(prototype, 'constructor');
  const name = ownValue(maker, 'name');
  if (typeof name !== 'string' || name === 'Object') return 'an object';
  return isPlainName(name) ? `an instance of ${name}` : 'an instance of a class';
}

/** The value of a property of its own, of whatever it is; no getter is asked. */
function ownValue(target: unknown, key: string): unknown {
  if ((typeof target !== 'object' && typeof target !== 'function') || target === null)
    return undefined;
  return types.isProxy(target) ? undefined : Object.getOwnPropertyDescriptor(target, key)?.value;
}
