// Deep equality of plain data, which recognizes messages that an SDK has rebuilt.

import { DEFAULT_INGESTION_LIMITS } from '../../shared/ingestion-limits.js';

/** Histories accept nothing deeper or larger. The limits also end the comparison of cyclic values. */
const { maxDepth, maxValues } = DEFAULT_INGESTION_LIMITS;

/** Returns whether a member is left out of a comparison. */
export type IsIgnored = (key: string, value: unknown) => boolean;

/**
 * Deep equality of plain data: objects, arrays and primitives, also bytes, dates and URLs. A key whose value is `undefined`
 * equals a missing one. Comparing a string with itself costs nothing, whatever its length. Values nested more than
 * 256 levels deep or with more than 1,000,000 values are never equal, nor are values that throw when they are read.
 *
 * @param isIgnored @default no member is
 */
export function isSameValue(a: unknown, b: unknown, isIgnored: IsIgnored = ignoreNothing): boolean {
  try {
    valuesLeft = maxValues;
    return isSame(a, b, isIgnored, maxDepth);
  } catch {
    // The reader reports the error if the value is used.
    return false;
  }
}

const ignoreNothing: IsIgnored = () => false;

/**
 * Fast path of `isSameValue`, for plain objects and arrays, in a third of its time. If it returns true, so does `isSameValue`, whatever
 * is ignored; if false, the values may still be equal.
 */
export function isPlainCopy(a: unknown, b: unknown): boolean {
  try {
    valuesLeft = maxValues;
    return isCopy(a, b, maxDepth);
  } catch {
    return false;
  }
}

/** Values that the current comparison may still visit. A global avoids an allocation for each message. */
let valuesLeft = 0;

function isCopy(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return typeof a !== 'function';
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (depth === 0) return false;
  const prototype: unknown = Object.getPrototypeOf(a);
  if (prototype !== Object.getPrototypeOf(b)) return false;
  if (prototype === Array.prototype) return isCopiedList(a as unknown[], b as unknown[], depth);
  if (prototype !== Object.prototype) return false;
  let unmatched = 0;
  for (const key in a) {
    const value = (a as Members)[key];
    valuesLeft -= 1;
    // An `undefined` member may equal a missing one, which this fast path does not decide.
    if (value === undefined || valuesLeft < 0) return false;
    const other = (b as Members)[key];
    if (!(typeof value === 'string' && value === other) && !isCopy(value, other, depth - 1)) {
      return false;
    }
    unmatched += 1;
  }
  for (const _ in b) unmatched -= 1;
  return unmatched === 0;
}

function isCopiedList(a: readonly unknown[], b: readonly unknown[], depth: number): boolean {
  valuesLeft -= a.length;
  if (a.length !== b.length || valuesLeft < 0) return false;
  for (let at = 0; at < a.length; at += 1) if (!isCopy(a[at], b[at], depth - 1)) return false;
  return true;
}

type Members = Readonly<Record<string, unknown>>;

function isSame(a: unknown, b: unknown, isIgnored: IsIgnored, depth: number): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return Number.isNaN(a) && Number.isNaN(b);
  }
  if (depth < 0 || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (Array.isArray(a)) return hasSameElements(a, b as readonly unknown[], isIgnored, depth);
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array) === 0;
  if (a instanceof Date) return a.getTime() === (b as Date).getTime();
  if (a instanceof URL) return a.href === (b as URL).href;
  return hasSameMembers(a as Members, b as Members, isIgnored, depth);
}

function hasSameElements(
  a: readonly unknown[],
  b: readonly unknown[],
  isIgnored: IsIgnored,
  depth: number,
): boolean {
  if (a.length !== b.length) return false;
  // Counts before comparing: a sparse array can claim billions of elements.
  valuesLeft -= a.length;
  if (valuesLeft < 0) return false;
  for (let at = 0; at < a.length; at += 1) {
    if (!isSame(a[at], b[at], isIgnored, depth - 1)) return false;
  }
  return true;
}

function hasSameMembers(a: Members, b: Members, isIgnored: IsIgnored, depth: number): boolean {
  let unmatched = 0;
  for (const key in a) {
    const value = a[key];
    if (value === undefined || isIgnored(key, value)) continue;
    valuesLeft -= 1;
    if (valuesLeft < 0 || !isSame(value, b[key], isIgnored, depth - 1)) return false;
    unmatched += 1;
  }
  for (const key in b) {
    const value = b[key];
    if (value !== undefined && !isIgnored(key, value)) unmatched -= 1;
  }
  return unmatched === 0;
}

/** Whether both lists hold the same objects in the same order. */
export function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}
