// Whether two values of plain data say the same: how messages are recognized that an SDK builds anew.

/** Pairs of values beyond this many are not compared. Nothing larger passes ingestion; it also ends a cycle. */
const MAX_PAIRS = 1_000_000;

/**
 * Deep equality on plain data: objects, arrays, primitives, besides these bytes, dates and URLs. A key whose value
 * is `undefined` is no different from one that is not there. Strings that are shared cost nothing,
 * whatever their length. Values that are too large to compare, or hold themselves, are not the same.
 *
 * @param isIgnored tells of members that make no difference @default there are none
 */
export function isSameValue(
  a: unknown,
  b: unknown,
  isIgnored: (key: string, value: unknown) => boolean = () => false,
): boolean {
  // A stack instead of recursion: depth costs nothing.
  const pending: unknown[] = [a, b];
  for (let pairs = 0; pending.length > 0; pairs += 1) {
    const right = pending.pop();
    const left = pending.pop();
    if (left === right || (Number.isNaN(left) && Number.isNaN(right))) continue;
    if (pairs >= MAX_PAIRS || !isObject(left) || !isObject(right)) return false;
    if (!pushParts(left, right, pending, isIgnored)) return false;
  }
  return true;
}

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

/** Puts what is left to compare of two objects on the stack; `false` when they differ already. */
function pushParts(
  left: Members,
  right: Members,
  pending: unknown[],
  isIgnored: (key: string, value: unknown) => boolean,
): boolean {
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  if (Array.isArray(left) && Array.isArray(right)) return pushItems(left, right, pending);
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return Buffer.compare(left, right) === 0;
  }
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (left instanceof URL && right instanceof URL) return left.href === right.href;
  return pushMembers(left, right, pending, isIgnored);
}

function pushItems(
  left: readonly unknown[],
  right: readonly unknown[],
  pending: unknown[],
): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1) pending.push(left[at], right[at]);
  return true;
}

function pushMembers(
  left: Members,
  right: Members,
  pending: unknown[],
  isIgnored: (key: string, value: unknown) => boolean,
): boolean {
  const counts = (key: string, value: unknown): boolean =>
    value !== undefined && !isIgnored(key, value);
  let unmatched = 0;
  for (const key in left) {
    if (!counts(key, left[key])) continue;
    unmatched += 1;
    pending.push(left[key], right[key]);
  }
  for (const key in right) if (counts(key, right[key])) unmatched -= 1;
  return unmatched === 0;
}
