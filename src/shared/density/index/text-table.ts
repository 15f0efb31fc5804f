// Interning tables for paths (in all spellings) and for texts. The text table stores little more
// than the characters: a separate string takes some 24 bytes more, a map slot 30, and each mention
// 8, and there are two or three texts per tool call.

import { hashOf } from './hash.js';
import { NONE, IntColumn } from './history-columns.js';
import { resolve, sep, win32 } from 'node:path';

/** Texts per chunk; the low bits of a number select one. */
const CHUNK = 32;
const CHUNK_BITS = 5;
const FIRST_SLOTS = 64;
/** Smaller tables are never compacted. */
const MIN_CLEARED = 256;

type Slots = Uint16Array | Uint32Array;

/** Interned texts, numbered below `size` in order of first use. */
export class TextTable {
  /** `CHUNK` texts each, concatenated. */
  readonly #chunks: string[] = [];
  /** By number, the end of the text in its chunk. */
  readonly #ends = new IntColumn();
  /** Open addressing by hash; holds the number plus 1, or 0. */
  #slots: Slots = new Uint16Array(FIRST_SLOTS);
  /** Cache of `listedIn`. */
  readonly #lists = new Map<number, readonly number[]>();

  get size(): number {
    return this.#ends.length;
  }

  /** Returns the number of a text, interning it if needed. */
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

  textOf(number: number): string {
    const chunk = this.#chunks[number >> CHUNK_BITS] ?? '';
    return chunk.slice(this.#startOf(number), this.#ends.at(number));
  }

  /** Returns the numbers of the texts that a text lists with spaces between them, interning them if needed. */
  listedIn(number: number): readonly number[] {
    let list = this.#lists.get(number);
    if (list === undefined) {
      list = Array.from(this.textOf(number).split(' '), (text) => this.numberOf(text));
      this.#lists.set(number, list);
    }
    return list;
  }

  /**
   * Returns this table, or, if many of its texts are not in these columns, a compacted one,
   * renumbering the columns. `NONE` means no text.
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
    // `join` yields a flat string; `+` would keep both parts alive.
    this.#chunks[chunk] = last === undefined ? ownString(text) : [last, text].join('');
    this.#ends.push(this.#startOf(this.size) + text.length);
  }

  #startOf(number: number): number {
    return number % CHUNK === 0 ? 0 : this.#ends.at(number - 1);
  }

  /** The slot of a text, or the free slot where it belongs. */
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
      // All texts are distinct, so the first free slot is right.
      let slot = hashOf(this.textOf(number)) & (count - 1);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (count - 1);
      this.#slots[slot] = number + 1;
    }
  }
}

/** Returns the number of a name, assigning the next one to a new name. */
export function numberIn(numbers: Map<string, number>, name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  const number = numbers.size;
  numbers.set(name, number);
  return number;
}

/**
 * Copies a string so that it does not keep a longer one alive: slices and concatenations hold on to
 * their sources.
 */
export function ownString(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** An absolute path on Windows. The agent may run there and ctxfold elsewhere, as a gateway or on a recorded session. */
const ON_WINDOWS = /^(?:[A-Za-z]:[\\/]|\\\\)/;
/** How Git Bash and WSL spell a drive, and Rust's programs an absolute path. */
const OTHER_DRIVE = /^\/(?:mnt\/)?([A-Za-z])(?=\/)|^\\\\\?\\(?=[A-Za-z]:)/;
const FILE_URL = /^file:\/\/\/?(?=\/|[A-Za-z](?::|%3A))/i;

/** The key of a file: its absolute path; in lower case on Windows, where a file may be `C:\a.ts` or `c:/A.ts`. */
export function pathKey(root: string, spelling: string): string {
  const path = pathIn(root, spelling);
  return sep === '\\' || ON_WINDOWS.test(path) ? path.toLowerCase() : path;
}

/** The path that a spelling, also a URL, means in a folder. */
export function pathIn(root: string, spelling: string): string {
  const given = FILE_URL.test(spelling) ? pathOfUrl(spelling) : spelling;
  if (sep !== '\\' && !ON_WINDOWS.test(root) && !ON_WINDOWS.test(given)) {
    return resolve(root, given);
  }
  const path = given.replace(OTHER_DRIVE, (_, drive?: string) => (drive ? `${drive}:` : ''));
  return win32.resolve(root, path);
}

function pathOfUrl(url: string): string {
  const path = url.replace(FILE_URL, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Ids of paths by their keys. Each spelling is resolved once. */
export class PathTable {
  readonly #root: string;
  /** By spelling; resolved paths are included. */
  readonly #ids = new Map<string, number>();
  #size = 0;

  /** @param root the absolute path that relative spellings start from */
  constructor(root: string) {
    this.#root = root;
  }

  get size(): number {
    return this.#size;
  }

  /** @param place where the file is, unless on the agent's own machine: the same path is another file elsewhere @default '' */
  idOf(spelling: string, place: string = ''): number {
    const suffix = place === '' ? '' : `\0${place}`;
    const known = this.#ids.get(spelling + suffix);
    if (known !== undefined) return known;
    const path = pathKey(this.#root, spelling);
    const id = this.#ids.get(path + suffix) ?? this.#size;
    if (id === this.#size) {
      this.#size += 1;
      this.#ids.set(ownString(path + suffix), id);
    }
    if (path !== spelling) this.#ids.set(ownString(spelling + suffix), id);
    return id;
  }
}
