// Sums, groups and order of values.

/** Returns the sum of one figure over all values. */
export function sumOf<Value>(values: Iterable<Value>, figureOf: (value: Value) => number): number {
  let sum = 0;
  for (const value of values) sum += figureOf(value);
  return sum;
}

/** Returns the largest of some figures, at least 0. Takes any number of them, other than `Math.max`. */
export function maxOf(figures: Iterable<number>): number {
  let max = 0;
  for (const figure of figures) max = Math.max(max, figure);
  return max;
}

/** Returns the sums of several figures over all values. */
export function sumsOf<Key extends string>(
  values: readonly Readonly<Record<Key, number>>[],
  keys: readonly Key[],
): Readonly<Record<Key, number>> {
  const sums = keys.map((key) => [key, sumOf(values, (value) => value[key])] as const);
  return Object.fromEntries(sums) as Record<Key, number>;
}

/** Adds to the sum under a key, which starts at 0. */
export function addTo<Key>(sums: Map<Key, number>, key: Key, by: number): void {
  sums.set(key, (sums.get(key) ?? 0) + by);
}

/** Returns the values in descending order of size. */
export function largestFirst<Value>(
  values: readonly Value[],
  sizeOf: (value: Value) => number,
): readonly Value[] {
  return values.toSorted((a, b) => sizeOf(b) - sizeOf(a));
}

/** Groups values by a key, in order of first occurrence, like `Map.groupBy` of Node 21. */
export function groupBy<Value, Key>(
  values: readonly Value[],
  keyOf: (value: Value) => Key,
): ReadonlyMap<Key, readonly [Value, ...Value[]]> {
  const groups = new Map<Key, [Value, ...Value[]]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
