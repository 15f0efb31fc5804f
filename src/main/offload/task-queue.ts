// A bounded FIFO queue with removal from the middle, for tasks that wait for a thread.

/** Holds up to `capacity` distinct items. */
export class TaskQueue<Item> {
  readonly #capacity: number;
  /** A set keeps insertion order and removes anywhere in constant time. */
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

  /** Appends an item. @throws RangeError if the queue is full; check `isFull` first. */
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

  /** Removes an item wherever it is; returns whether it was there. */
  remove(item: Item): boolean {
    return this.#items.delete(item);
  }

  /** Removes and returns all items, oldest first. */
  drain(): readonly Item[] {
    const items = [...this.#items];
    this.#items.clear();
    return items;
  }
}
