// Whether two values of plain data say the same: how messages are recognized that an SDK builds anew.

/** Levels of nesting that are compared. Nothing deeper passes ingestion; it also ends what holds itself. */
const MAX_DEPTH = 256;

/** Tells of members that make no difference. */
export type IsIgnored = (key: string, value: unknown) => boolean;

/**
 * Deep equality on plain data: objects, arrays, primitives, besides these bytes, dates and URLs. A key
 * whose value is `undefined` is no different from one that is not there. Strings that are shared cost
 * nothing, whatever their length. Values nested more than 256 levels deep are not the same.
 *
 * @param isIgnored @default nothing is
 */
export function isSameValue(a: unknown, b: unknown, isIgnored: IsIgnored = ignoreNothing): boolean {
  return isSame(a, b, isIgnored, 0);
}

const ignoreNothing: IsIgnored = () => false;

type Members = Readonly<Record<string, unknown>>;

function isSame(a: unknown, b: unknown, isIgnored: IsIgnored, depth: number): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return Number.isNaN(a) && Number.isNaN(b);
  }
  if (depth > MAX_DEPTH || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (Array.isArray(a)) return isSameList(a, b as readonly unknown[], isIgnored, depth);
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array) === 0;
  if (a instanceof Date) return a.getTime() === (b as Date).getTime();
  if (a instanceof URL) return a.href === (b as URL).href;
  return hasSameMembers(a as Members, b as Members, isIgnored, depth);
}

function isSameList(
  a: readonly unknown[],
  b: readonly unknown[],
  isIgnored: IsIgnored,
  depth: number,
): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) {
    if (!isSame(a[at], b[at], isIgnored, depth + 1)) return false;
  }
  return true;
}

function hasSameMembers(a: Members, b: Members, isIgnored: IsIgnored, depth: number): boolean {
  let unmatched = 0;
  for (const key in a) {
    const value = a[key];
    if (value === undefined || isIgnored(key, value)) continue;
    if (!isSame(value, b[key], isIgnored, depth + 1)) return false;
    unmatched += 1;
  }
  for (const key in b) {
    const value = b[key];
    if (value !== undefined && !isIgnored(key, value)) unmatched -= 1;
  }
  return unmatched === 0;
}
