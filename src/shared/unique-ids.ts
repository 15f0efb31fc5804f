// Makes ids unique, since some models restart the numbering of their calls in each answer.

export class UniqueIds {
  /** By id, how many ids were made of it. */
  readonly #counts = new Map<string, number>();

  has(id: string): boolean {
    return this.#counts.has(id);
  }

  /** Returns the id, or `<id>#2`, `<id>#3` and so on if it is taken. */
  take(id: string): string {
    let count = (this.#counts.get(id) ?? 0) + 1;
    while (count > 1 && this.#counts.has(`${id}#${count}`)) count += 1;
    this.#counts.set(id, count);
    if (count === 1) return id;
    const unique = `${id}#${count}`;
    this.#counts.set(unique, 1);
    return unique;
  }
}
