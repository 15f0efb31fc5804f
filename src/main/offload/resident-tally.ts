// How many sessions live on which thread.

export class ResidentTally {
  readonly #residents: Map<number, number> = new Map();

  on(threadId: number): number {
    return this.#residents.get(threadId) ?? 0;
  }

  add(threadId: number, change: 1 | -1): void {
    const residents = this.on(threadId) + change;
    if (residents > 0) this.#residents.set(threadId, residents);
    else this.#residents.delete(threadId);
  }
}
