// Whether two lists hold the same objects.

/** Whether the lists are of the same length and hold the same objects in the same order. */
export function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}
