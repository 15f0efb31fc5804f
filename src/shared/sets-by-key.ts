// Groups values into sets by key, in the order in which they were added.

export class SetsByKey<Key, Value> {
  readonly #sets = new Map<Key, Set<Value>>();

  /** The values of a key, the last added one last. */
  of(key: Key): Iterable<Value> {
    return this.#sets.get(key) ?? [];
  }

  /** Adds a value to those of a key. */
  add(key: Key, value: Value): void {
    const set = this.#sets.get(key) ?? new Set();
    this.#sets.set(key, set.add(value));
  }

  /** Removes a value from those of a key, if it is one. */
  delete(key: Key, value: Value): void {
    const set = this.#sets.get(key);
    set?.delete(value);
    if (set?.size === 0) this.#sets.delete(key);
  }
}
