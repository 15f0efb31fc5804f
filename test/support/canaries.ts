// Canaries: markers planted in each owner's content, and searched for in all outputs.

import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

const MARK = /canary[0-9a-f]{16}/g;

/** Inspects values completely, at any depth. */
const EVERYTHING = {
  depth: Infinity,
  maxArrayLength: Infinity,
  maxStringLength: Infinity,
  showHidden: true,
} as const;

/** Canaries, their owners, and where each was found. */
export class Canaries<Owner> {
  readonly #owners = new Map<string, Owner>();
  readonly #found = new Map<string, Set<string>>();

  get size(): number {
    return this.#owners.size;
  }

  /** A new canary of an owner. Only letters and digits, which nothing escapes, trims or folds. */
  plant(owner: Owner): string {
    const mark = `canary${randomBytes(8).toString('hex')}`;
    this.#owners.set(mark, owner);
    return mark;
  }

  /** Searches the output of a place: any value, including errors and maps. */
  collect(place: string, value: unknown): void {
    const found = this.#found.get(place) ?? new Set();
    this.#found.set(place, found);
    const text = typeof value === 'string' ? value : inspect(value, EVERYTHING);
    for (const [mark] of text.matchAll(MARK)) found.add(mark);
  }

  /** All places with output, with the canaries found there. */
  get places(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#found;
  }

  /** The owners whose canaries were found in a place. */
  ownersIn(place: string): ReadonlySet<Owner> {
    const marks = [...(this.#found.get(place) ?? [])];
    return new Set(marks.flatMap((mark) => this.#owners.get(mark) ?? []));
  }
}
