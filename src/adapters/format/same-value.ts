// Deep equality of plain data, which recognizes messages that an SDK has rebuilt.

import { DEFAULT_INGESTION_LIMITS } from '../../shared/ingestion-limits.js';

/** Histories accept nothing deeper or larger. The limits also end the comparison of cyclic values. */
const { maxDepth, maxValues } = DEFAULT_INGESTION_LIMITS;

/** Returns whether a member is left out of a comparison. */
export type IsIgnored = (key: string, value: unknown) => boolean;

/**
 * Deep equality of plain data: objects, arrays and primitives, also bytes, dates and URLs. A key whose value is `undefined` or a
 * function equals a missing one. Comparing a string with itself costs nothing, whatever its length. Values nested more than
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

/** Values that the current comparison may still visit. A global avoids an allocation for each message. */
let valuesLeft = 0;

type Members = Readonly<Record<string, unknown>>;

function isSame(a: unknown, b: unknown, isIgnored: IsIgnored, depth: number): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return Number.isNaN(a) && Number.isNaN(b);
  }
  const prototype: unknown = Object.getPrototypeOf(a);
  if (depth < 0 || prototype !== Object.getPrototypeOf(b)) return false;
  if (Array.isArray(a)) return hasSameElements(a, b as readonly unknown[], isIgnored, depth);
  // Most objects are plain, and looking for their class would take as long as comparing them.
  if (prototype === Object.prototype)
    return hasSameMembers(a as Members, b as Members, isIgnored, depth);
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
    if (isAbsent(value)) continue;
    valuesLeft -= 1;
    if (valuesLeft < 0) return false;
    const other = b[key];
    if (value === other || isSame(value, other, isIgnored, depth - 1)) unmatched += 1;
    else if (!isIgnored(key, value)) return false;
  }
  for (const key in b) if (!isAbsent(b[key])) unmatched -= 1;
  return unmatched === 0 || areOthersIgnored(a, b, isIgnored);
}

/** Whether all members of `b` are ignored that `a` has not, or has with an ignored value. */
function areOthersIgnored(a: Members, b: Members, isIgnored: IsIgnored): boolean {
  for (const key in b) {
    const [value, other] = [a[key], b[key]];
    const isMatched = !isAbsent(value) && !isIgnored(key, value);
    if (!isMatched && !isAbsent(other) && !isIgnored(key, other)) return false;
  }
  return true;
}

/** JSON leaves such members out. */
function isAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'function';
}

/** Whether both lists hold the same objects in the same order. */
export function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}
