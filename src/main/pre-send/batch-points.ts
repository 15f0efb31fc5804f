// At which lengths of a history a batch of edits may land: told by content alone, so that a process which finds
// the history later comes to the same ones. Knows no edit.

/** A point comes once the history has grown by this share, so that there are few of them however long it gets. */
const GROWTH_PER_POINT = 1 / 64;

/** The batch points of one history. */
export class BatchPoints {
  #next = 0;

  /**
   * Whether a window on so many entries is at a point. To be asked at each window, in their order; the first windows all
   * are.
   *
   * @param entries that were ever added to the history
   */
  reaches(entries: number): boolean {
    if (entries < this.#next) return false;
    this.#next = entries + Math.floor(entries * GROWTH_PER_POINT);
    return true;
  }
}
