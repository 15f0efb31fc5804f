// Checks of arguments, and their messages: what was expected, where, and what kind of value was given. Messages
// describe kinds, never content, and describing a value runs none of its code.

import { types } from 'node:util';
import { isRecord } from './json.js';
import type { JsonRecord } from './json.js';
import { isPlainName, isShortWord, nearestName, shownText } from './shown-text.js';

/**
 * Reports a value of the wrong kind.
 *
 * @throws TypeError always.
 */
export function refuse(where: string, expected: string, value: unknown): never {
  throw new TypeError(`Expected ${expected} at ${where}, got ${kindOf(value)}.`);
}

function refuseOption(name: string, expected: string, value: unknown): never {
  throw new TypeError(`Expected ${name} to be ${expected}, got ${kindOf(value)}.`);
}

/** Returns the value if it is an object, neither an array nor a proxy. @throws TypeError otherwise. */
export function asObject(value: unknown, where: string, expected: string): JsonRecord {
  return isObject(value) ? value : refuse(where, expected, value);
}

/** Whether a value is an object, neither an array nor a proxy. */
export function isObject(value: unknown): value is JsonRecord {
  return !types.isProxy(value) && isRecord(value);
}

/** Checks an option that was given. @throws TypeError or RangeError if it is invalid */
export type Check = (name: string, value: unknown) => void;

/** The check of each known option; `null` for one that is checked elsewhere. */
export type Checks<Options extends object> = Readonly<Record<keyof Options & string, Check | null>>;

/**
 * Copies options, so that later changes by the caller, or getters, have no effect.
 *
 * @param checks checks the options, and refuses all others @default not checked
 * @param elsewhere see `assertKnownOptions`
 * @throws TypeError if they are not an object, or if a getter throws; RangeError for an unknown option; and what the checks throw.
 */
export function readOptions<Options extends object>(
  name: string,
  options: Options,
  checks?: Checks<Options>,
  elsewhere?: OptionsElsewhere,
): Options {
  if (!isObject(options)) refuseOption(name, 'an object', options);
  let read: Options & JsonRecord;
  try {
    read = { ...options };
  } catch (cause) {
    throw new TypeError(`Expected ${name} that can be read; a getter of them threw.`, { cause });
  }
  if (checks === undefined) return read;
  assertKnownOptions(name, read, Object.keys(checks), elsewhere);
  for (const [key, check] of Object.entries<Check | null>(checks)) {
    const value = read[key as keyof Options];
    if (value !== undefined) check?.(key, value);
  }
  return read;
}

/** Names of options that must be given elsewhere, by that place. */
export type OptionsElsewhere = Readonly<Record<string, readonly string[]>>;

/** Returns a suggestion for an unknown option: a similar known name, or an option that must be given elsewhere. */
function suggestedOption(
  key: string,
  known: readonly string[],
  elsewhere: OptionsElsewhere = {},
): string | undefined {
  const meant = nearestName(key, known);
  if (meant !== undefined) return `did you mean '${meant}'?`;
  const isMeant = (name: string): boolean =>
    name === key || name.startsWith(`${key}.`) || name.endsWith(`.${key}`);
  for (const [where, names] of Object.entries(elsewhere)) {
    const name = names.find(isMeant);
    if (name !== undefined) return `did you mean '${name}' of ${where}?`;
  }
  return undefined;
}

/**
 * Checks that all options are known. One that is `undefined` counts as not given.
 *
 * @throws RangeError that lists the unknown ones.
 */
export function assertKnownOptions(
  name: string,
  options: Readonly<Record<string, unknown>>,
  known: readonly string[],
  elsewhere?: OptionsElsewhere,
): void {
  const unknown = Object.keys(options).filter(
    (key) => options[key] !== undefined && !known.includes(key),
  );
  if (unknown.length === 0) return;
  throw new RangeError(`Invalid ${name}: ${unknownOptions(unknown, known, elsewhere)}`);
}

/** Returns a sentence about unknown options: what each was probably meant for, and the known ones if that is not clear. */
export function unknownOptions(
  unknown: readonly string[],
  known: readonly string[],
  elsewhere?: OptionsElsewhere,
): string {
  const suggestions = unknown.map((key) => suggestedOption(key, known, elsewhere));
  const names = unknown.map((key, at) => {
    const suggestion = suggestions[at];
    return `${shownText(key)}${suggestion === undefined ? '' : ` (${suggestion})`}`;
  });
  const all = suggestions.includes(undefined) ? ` Known are ${known.join(', ')}.` : '';
  return `there is no option ${names.join(', ')}.${all}`;
}

/** @throws TypeError if the value is not a function. */
export function assertFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') refuseOption(name, 'a function', value);
}

/** @throws TypeError if the value is not a string. */
export function assertString(name: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') refuseOption(name, 'a string', value);
}

/** @throws TypeError if the value is not a boolean. */
export function assertBoolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') refuseOption(name, 'a boolean', value);
}

/** @throws TypeError if the value is not an array. */
export function assertArray(name: string, value: unknown): asserts value is readonly unknown[] {
  if (!isArray(value)) refuseOption(name, 'an array', value);
}

/** @throws TypeError if the value is not an `AbortSignal`. */
export function assertSignal(name: string, value: unknown): void {
  if (!isInstance(value, AbortSignal)) refuseOption(name, 'an AbortSignal', value);
}

/** Whether a value is an array, of any realm, with the standard iterator. `Array.isArray` would throw for a revoked proxy. */
export function isArray(value: unknown): value is readonly unknown[] {
  if (types.isProxy(value) || !Array.isArray(value)) return false;
  return Symbol.iterator in value && !Object.hasOwn(value, Symbol.iterator);
}

/** Whether a value has all these methods. */
export function hasFunctions(value: unknown, names: readonly string[]): boolean {
  const methods = value as Readonly<Record<string, unknown>> | null | undefined;
  return names.every((name) => typeof methods?.[name] === 'function');
}

/** Whether a value is an instance of a class. A proxy of one is not: it has no private fields. */
export function isInstance<Instance>(
  value: unknown,
  ofClass: abstract new (...parts: never[]) => Instance,
): value is Instance {
  return !types.isProxy(value) && value instanceof ofClass;
}

/** Returns an element. @throws TypeError if it is a getter that throws. */
export function elementAt(name: string, values: readonly unknown[], at: number): unknown {
  try {
    return values[at];
  } catch (cause) {
    throw new TypeError(`Expected ${name} that can be read; element ${at} threw.`, { cause });
  }
}

/**
 * Copies an array that its owner may change while it is read, up to the first element that is `undefined`; whoever validates
 * elements refuses that one.
 *
 * @throws TypeError if it is not an array, or an element is a getter that throws.
 */
export function copyOfArray(name: string, values: unknown): unknown[] {
  assertArray(name, values);
  const copy: unknown[] = [];
  for (let at = 0; at < values.length; at += 1) {
    const value = elementAt(name, values, at);
    copy.push(value);
    if (value === undefined) break;
  }
  return copy;
}

/** @throws TypeError if the value is not a number. */
export function assertNumber(name: string, value: unknown): asserts value is number {
  if (typeof value !== 'number') refuseOption(name, 'a number', value);
}

/**
 * Checks a caller's number of tokens.
 *
 * @throws TypeError if it is not a number; RangeError if it is negative or not finite.
 */
export function assertTokens(name: string, tokens: unknown): void {
  assertNumber(name, tokens);
  if (tokens >= 0 && Number.isFinite(tokens)) return;
  throw new RangeError(`Expected ${name} of at least 0, got ${tokens}.`);
}

/** Checks a caller's number of things or milliseconds. @throws RangeError if it is no whole number from 1 to 2³¹ − 1. */
export function assertCount(name: string, value: unknown): void {
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) < 2 ** 31) return;
  throw new RangeError(
    `Expected ${name} to be a whole number of at least 1, got ${typeof value === 'number' ? value : kindOf(value)}.`,
  );
}

/** Describes the kind of a value in a few words. */
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
  const name = ownValue(ownValue(prototype, 'constructor'), 'name');
  if (typeof name !== 'string' || name === 'Object') return 'an object';
  return isPlainName(name) ? `an instance of ${name}` : 'an instance of a class';
}

/** The value of an own property of anything, without calling a getter. */
function ownValue(target: unknown, key: string): unknown {
  if ((typeof target !== 'object' && typeof target !== 'function') || target === null)
    return undefined;
  return types.isProxy(target) ? undefined : Object.getOwnPropertyDescriptor(target, key)?.value;
}
