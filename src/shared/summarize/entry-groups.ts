// Which entries of a history belong together, so that none of them leaves without the others.

import { NONE } from '../density/index/history-columns.js';
import type { HistoryOutline } from './history-outline.js';

/**
 * Disjoint sets of entries that leave or stay together. With path halving, close to linear in joins
 * (Tarjan and van Leeuwen 1984).
 */
export class EntryGroups {
  readonly #parent: Int32Array;
  readonly #pinned: Uint8Array;

  constructor(length: number) {
    this.#parent = Int32Array.from({ length }, (_, entry) => entry);
    this.#pinned = new Uint8Array(length);
  }

  /** The group that an entry belongs to: equal numbers, same group. */
  find(entry: number): number {
    let at = entry;
    for (;;) {
      const parent = this.#parent[at] ?? at;
      if (parent === at) return at;
      const grandparent = this.#parent[parent] ?? parent;
      this.#parent[at] = grandparent;
      at = grandparent;
    }
  }

  /** Makes two groups one; it stays when either had to. */
  join(a: number, b: number): void {
    const first = this.find(a);
    const second = this.find(b);
    if (this.isPinned(second)) this.pin(first);
    this.#parent[second] = first;
  }

  /** Says that the group of an entry has to stay. */
  pin(entry: number): void {
    this.#pinned[this.find(entry)] = 1;
  }

  isPinned(group: number): boolean {
    return this.#pinned[group] === 1;
  }

  /** The groups that may leave, each with its entries ascending; the one with the oldest entry first. */
  units(): readonly (readonly number[])[] {
    const units = new Map<number, number[]>();
    for (let entry = 0; entry < this.#parent.length; entry += 1) {
      const group = this.find(entry);
      if (this.isPinned(group)) continue;
      const unit = units.get(group);
      if (unit === undefined) units.set(group, [entry]);
      else unit.push(entry);
    }
    // A map keeps the order of insertion.
    return [...units.values()];
  }
}

/**
 * Groups the entries of calls with those of their responses, the ones that are not complete included.
 * Groups that hold an open call are pinned. Linear in calls and responses.
 */
export function groupToolEntries(outline: HistoryOutline): EntryGroups {
  const { callEntries, responseEntries, partialEntries, partialCalls } = outline;
  const groups = new EntryGroups(outline.length);
  callEntries.forEach((callEntry, call) => {
    const responseEntry = responseEntries[call] ?? NONE;
    if (responseEntry === NONE) groups.pin(callEntry);
    else groups.join(callEntry, responseEntry);
  });
  partialEntries.forEach((entry, row) => {
    groups.join(callEntries[partialCalls[row] ?? NONE] ?? entry, entry);
  });
  return groups;
}
