// Marks that are planted in what one owner says, and looked for in whatever comes out anywhere.

import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

const MARK = /canary[0-9a-f]{16}/g;

/** Everything of a value is looked at, at any depth. */
const EVERYTHING = {
  depth: Infinity,
  maxArrayLength: Infinity,
  maxStringLength: Infinity,
  showHidden: true,
} as const;

/** Marks, who each belongs to, and where each was found. */
export class Canaries<Owner> {
  readonly #owners = new Map<string, Owner>();
  readonly #found = new Map<string, Set<string>>();

  get size(): number {
    return this.#owners.size;
  }

  /** A new mark of an owner's. Letters and digits: nothing escapes, trims or folds it. */
  plant(owner: Owner): string {
    const mark = `canary${randomBytes(8).toString('hex')}`;
    this.#owners.set(mark, owner);
    return mark;
  }

  /** Looks through what came out in a place: any value, errors and maps as well. */
  collect(place: string, value: unknown): void {
    const found = this.#found.get(place) ?? new Set();
    this.#found.set(place, found);
    const text = typeof value === 'string' ? value : inspect(value, EVERYTHING);
    for (const [mark] of text.matchAll(MARK)) found.add(mark);
  }

  /** Places that something came out of, each with the marks in it. */
  get places(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#found;
  }

  /** Whose marks came out in a place. */
  ownersIn(place: string): ReadonlySet<Owner> {
    const marks = [...(this.#found.get(place) ?? [])];
    return new Set(marks.flatMap((mark) => this.#owners.get(mark) ?? []));
  }
}
