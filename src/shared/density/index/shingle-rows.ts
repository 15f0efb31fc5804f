// The memory of the table in which shared lines are looked up. Does not look up or fill anything.

import { SHINGLE_LINES } from './text-lines.js';

/** End of a chain. Links hold the row plus one. */
export const END = 0;
export const FIRST_ROWS = 64;
/** 16-bit links suffice below this; the highest value marks rows in no chain. */
const MAX_NARROW_ROWS = 2 ** 16 - 1;

/** The table of shingles: about 20 bytes each, or 24 in large tables. */
export class ShingleRows {
  readonly length: number;
  /** The line hashes of each row's shingle. */
  readonly lines: Int32Array;
  /** The number of its text. */
  readonly texts: Uint32Array;
  /** Link to the next row in its chain. */
  readonly next: Uint16Array | Uint32Array;
  /** Heads of the chains, by the low bits of the shingle. */
  readonly first: Uint16Array | Uint32Array;
  /** The link of a row in no chain. */
  readonly unchained: number;

  constructor(length: number) {
    const Rows = length < MAX_NARROW_ROWS ? Uint16Array : Uint32Array;
    this.length = length;
    this.lines = new Int32Array(length * SHINGLE_LINES);
    this.texts = new Uint32Array(length);
    this.next = new Rows(length);
    this.first = new Rows(2 ** Math.floor(Math.log2(length)));
    this.unchained = 2 ** (8 * Rows.BYTES_PER_ELEMENT) - 1;
    this.next.fill(this.unchained);
  }
}
