// Follows what becomes of the entries of a history from a moment on, so that what was made of them then can be put in place
// later. Told of each change; changes nothing itself.

import type { IContent } from '../../shared/content.js';
import type { HistoryChange } from '../history-change.js';

/** The entries of one moment, and what has become of them. */
export class FollowedHistory {
  readonly #entries: readonly IContent[];
  /** By entry of then, what stands there now; `null` when that was removed. */
  readonly #now: (IContent | null)[];
  /** Those that still stand, as indices into the entries of then; the history begins with them. */
  #standing: number[];
  #isGone = false;

  constructor(entries: readonly IContent[]) {
    this.#entries = [...entries];
    this.#now = [...entries];
    this.#standing = entries.map((_, index) => index);
  }

  /** Whether another list has taken the place of the history, or nothing: there is nothing left to follow. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Notes a change of the history. */
  note(change: HistoryChange): void {
    if (change.kind === 'append') return;
    if (change.kind !== 'edit') {
      this.#isGone = true;
      return;
    }
    for (const [index, entry] of change.replacements) {
      const then = this.#standing[index];
      if (then !== undefined) this.#now[then] = entry;
    }
    if (change.removals.length === 0) return;
    for (const index of change.removals) {
      const then = this.#standing[index];
      if (then !== undefined) this.#now[then] = null;
    }
    this.#standing = this.#standing.filter((then) => this.#now[then] !== null);
  }

  /**
   * Returns what puts a list that was made of the entries of then in their place, as it would stand by the time of the call: entries
   * that it keeps as they are now, without those that were removed, its own where they are, and behind it what came in meanwhile.
   * The work is done here, and little is left for the call.
   *
   * @param made a list that holds entries of then in their order, and others
   */
  rebasing(made: readonly IContent[]): (history: readonly IContent[]) => readonly IContent[] {
    /** Places of an entry of then, the first one last: the same object may stand at several. */
    const places = new Map<IContent, number[]>();
    for (let at = this.#entries.length - 1; at >= 0; at -= 1) {
      const entry = this.#entries[at] as IContent;
      const known = places.get(entry);
      if (known === undefined) places.set(entry, [at]);
      else known.push(at);
    }
    const sources = made.map((entry) => places.get(entry)?.pop());
    return (history) => {
      const rebased: IContent[] = [];
      for (const [at, entry] of made.entries()) {
        const source = sources[at];
        const now = source === undefined ? entry : (this.#now[source] ?? null);
        if (now !== null) rebased.push(now);
      }
      for (let at = this.#standing.length; at < history.length; at += 1) {
        rebased.push(history[at] as IContent);
      }
      return rebased;
    };
  }
}
