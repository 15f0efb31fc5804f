// Tracks a snapshot of a history through later changes, so that a compression of the snapshot can be rebased onto the present
// history. Must be given every change; makes none.

import type { IContent } from '../../shared/content.js';
import { pushTo } from '../../shared/lists-by-key.js';
import type { HistoryChange } from '../history-change.js';

/** A list made from a snapshot, ready to become the present history. */
export interface Rebasing {
  /** Index of the snapshot's first entry that the list has kept; the snapshot's length if it has kept none. */
  readonly firstKept: number;
  /**
   * Rebases the list onto the history as it is when called: entries that the list kept are replaced by their present versions, or
   * dropped if removed; entries of its own stay; and entries added since are appended.
   */
  readonly rebase: (history: readonly IContent[]) => readonly IContent[];
}

/** The entries of a snapshot, and what has become of each. */
export class TrackedHistory {
  readonly #entries: readonly IContent[];
  /** Maps an index in the snapshot to the present entry; `null` if it was removed. */
  #current: (IContent | null)[] = [];
  /** Indices into the snapshot of the entries that are left; the present history begins with them. */
  #remaining: number[] = [];
  #firstEdited = Infinity;
  #isGone = false;

  constructor(entries: readonly IContent[]) {
    this.#entries = [...entries];
    this.moveTo(entries);
  }

  /** Continues in another history that begins with the same entries, possibly as other objects. */
  moveTo(history: readonly IContent[]): void {
    this.#current = history.slice(0, this.#entries.length);
    this.#remaining = this.#current.map((_, index) => index);
  }

  /** Whether the history was replaced or cleared, so that there is nothing left to track. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Index in the snapshot of the first entry that was edited or removed since; `Infinity` if none was. */
  get firstEdited(): number {
    return this.#firstEdited;
  }

  /** Follows a change of the history. */
  note(change: HistoryChange): void {
    if (change.kind === 'append') return;
    if (change.kind !== 'edit') {
      this.#isGone = true;
      return;
    }
    const put = (index: number, entry: IContent | null): void => {
      const then = this.#remaining[index];
      if (then === undefined) return;
      this.#current[then] = entry;
      this.#firstEdited = Math.min(this.#firstEdited, then);
    };
    for (const [index, entry] of change.replacements) put(index, entry);
    if (change.removals.length === 0) return;
    for (const index of change.removals) put(index, null);
    this.#remaining = this.#remaining.filter((then) => this.#current[then] !== null);
  }

  /**
   * Returns how to rebase a list made from the snapshot. The expensive part happens here, not in the returned function.
   *
   * @param made a list of new entries and of entries of the snapshot, the latter in order
   */
  rebasing(made: readonly IContent[]): Rebasing {
    /** Indices of each snapshot entry, in descending order: the same object may occur several times. */
    const places = new Map<IContent, number[]>();
    for (let at = this.#entries.length - 1; at >= 0; at -= 1) {
      pushTo(places, this.#entries[at] as IContent, at);
    }
    const sources = made.map((entry) => places.get(entry)?.pop());
    const firstKept = sources.find((source) => source !== undefined) ?? this.#entries.length;
    const rebase: Rebasing['rebase'] = (history) => [
      ...made.flatMap((entry, at) => {
        const source = sources[at];
        return (source === undefined ? entry : this.#current[source]) ?? [];
      }),
      ...history.slice(this.#remaining.length),
    ];
    return { firstKept, rebase };
  }
}
