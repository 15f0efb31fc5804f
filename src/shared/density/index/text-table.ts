// Small numbers for texts and for files: a table of paths in all their spellings, and one of texts that keeps them in little
// more than their characters. A string by itself takes some 24 bytes more, a place in a map 30, and each mention of it 8;
// there are two or three texts per tool call.

import { hashOf } from './hash.js';
import { IntColumn, NONE } from './history-columns.js';
import { resolve } from 'node:path';

/** So many texts are kept as one string, and their numbers differ in so many low bits. */
const CHUNK = 32;
const CHUNK_BITS = 5;
const FIRST_SLOTS = 64;
/** Smaller tables are not worth being cleared of texts. */
const MIN_CLEARED = 256;

type Slots = Uint16Array | Uint32Array;

/** Texts, and the numbers that stand for them: the integers below `size`, by first use. */
export class TextTable {
  /** `CHUNK` texts each, one behind the other, as long as there are so many. */
  readonly #chunks: string[] = [];
  /** By number, where the text ends in its chunk. */
  readonly #ends = new IntColumn();
  /** Open addressing by hash: the number and 1, or 0. */
  #slots: Slots = new Uint16Array(FIRST_SLOTS);

  get size(): number {
    return this.#ends.length;
  }

  /** The number of a text, which is given one when it has none. */
  numberOf(text: string): number {
    const slot = this.#slotOf(text);
    const known = this.#slots[slot] ?? 0;
    if (known !== 0) return known - 1;
    const number = this.size;
    this.#slots[slot] = number + 1;
    this.#push(text);
    if (this.size > this.#slots.length * 0.75) this.#growSlots();
    return number;
  }

  /** The text that a number was given to. */
  textOf(number: number): string {
    const chunk = this.#chunks[number >> CHUNK_BITS] ?? '';
    return chunk.slice(this.#startOf(number), this.#ends.at(number));
  }

  /**
   * Returns this table; or, when it has many texts that are in none of these columns, one without them, and
   * changes the columns to its numbers. `NONE` stands for no text.
   */
  withoutUnused(columns: readonly IntColumn[]): TextTable {
    const mentions = columns.reduce((sum, { length }) => sum + length, 0);
    if (this.size < MIN_CLEARED || this.size < mentions * 1.5) return this;
    const table = new TextTable();
    for (const column of columns) {
      for (let row = 0; row < column.length; row += 1) {
        const number = column.at(row);
        if (number !== NONE) column.set(row, table.numberOf(this.textOf(number)));
      }
    }
    return table;
  }

  #push(text: string): void {
    const chunk = this.size >> CHUNK_BITS;
    const last = this.#chunks[chunk];
    // Joined, not added: a sum of strings keeps its parts until somebody reads it.
    this.#chunks[chunk] = last === undefined ? ownString(text) : [last, text].join('');
    this.#ends.push(this.#startOf(this.size) + text.length);
  }

  #startOf(number: number): number {
    return number % CHUNK === 0 ? 0 : this.#ends.at(number - 1);
  }

  /** The slot that holds a text, or the free one that would. */
  #slotOf(text: string): number {
    const mask = this.#slots.length - 1;
    let slot = hashOf(text) & mask;
    for (;;) {
      const known = this.#slots[slot] ?? 0;
      if (known === 0 || this.#is(known - 1, text)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #is(number: number, text: string): boolean {
    const start = this.#startOf(number);
    if (this.#ends.at(number) - start !== text.length) return false;
    return this.#chunks[number >> CHUNK_BITS]?.startsWith(text, start) === true;
  }

  #growSlots(): void {
    const count = this.#slots.length * 2;
    this.#slots = count <= 2 ** 16 ? new Uint16Array(count) : new Uint32Array(count);
    for (let number = 0; number < this.size; number += 1) {
      // All are distinct: the first free slot is the one.
      let slot = hashOf(this.textOf(number)) & (count - 1);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (count - 1);
      this.#slots[slot] = number + 1;
    }
  }
}

/**
 * A copy that is no part of a longer string. A text that was cut out of another one, or put together of
 * several, would keep all of these in memory for as long as it is kept itself.
 */
export function ownString(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** Ids of paths, resolved against one root. Each spelling is resolved once; case is not folded. */
export class PathTable {
  readonly #root: string;
  /** By spelling; a path that was resolved is one as well. */
  readonly #ids = new Map<string, number>();
  #size = 0;

  /** @param root the absolute path that relative spellings start from */
  constructor(root: string) {
    this.#root = root;
  }

  /** Ids given so far; they are the integers below it. */
  get size(): number {
    return this.#size;
  }

  idOf(spelling: string): number {
    const known = this.#ids.get(spelling);
    if (known !== undefined) return known;
    const path = resolve(this.#root, spelling);
    const id = this.#ids.get(path) ?? this.#size;
    if (id === this.#size) {
      this.#size += 1;
      this.#ids.set(ownString(path), id);
    }
    if (path !== spelling) this.#ids.set(ownString(spelling), id);
    return id;
  }
}
