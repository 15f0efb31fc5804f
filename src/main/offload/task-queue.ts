// A bounded first-in-first-out queue from whose middle items can be removed: for tasks that wait for a thread.

/** Holds up to `capacity` distinct items. */
export class TaskQueue<Item> {
  readonly #capacity: number;
  /** A set keeps the order of insertion and removes anywhere in constant time. */
  readonly #items: Set<Item> = new Set();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#items.size;
  }

  get isFull(): boolean {
    return this.#items.size >= this.#capacity;
  }

  /** Appends an item. @throws RangeError when the queue is full; ask `isFull` first. */
  push(item: Item): void {
    if (this.isFull) throw new RangeError(`The queue is full: it holds ${this.#capacity} items.`);
    this.#items.add(item);
  }

  /** Removes and returns the oldest item. */
  shift(): Item | undefined {
    for (const item of this.#items) {
      this.#items.delete(item);
      return item;
    }
    return undefined;
  }

  /** Removes an item wherever it stands; returns whether it was there. */
  remove(item: Item): boolean {
    return this.#items.delete(item);
  }

  /** Removes and returns all items, the oldest first. */
  drain(): readonly Item[] {
    const items = [...this.#items];
    this.#items.clear();
    return items;
  }
}
