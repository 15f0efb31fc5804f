// Growing columns of integers, each as narrow as its values allow. A table of them holds one row per block
// in a few bytes, and a pass over 100,000 rows stays within the processor's cache, which a walk over objects does not.

import type { Stretch } from './stretches.js';

const FIRST_CAPACITY = 64;
const LONG_COLUMN = 1_024;
/** From here on a copy as a whole beats one value after the other. */
const LONG_STRETCH = 32;

type Values = Int8Array | Int16Array | Int32Array;

/**
 * A column of 32-bit integers that grows at its end. It takes 8 bits for each of them until there is one
 * that needs 16, and those until there is one that needs 32.
 */
export class IntColumn {
  #values: Values = new Int8Array(FIRST_CAPACITY);
  #length = 0;
  /** Bits that a value here has fewer than an integer. */
  #unused = 24;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    const row = this.#length;
    if (row === this.#values.length) this.#reserve(row + 1);
    this.#length = row + 1;
    this.set(row, value);
  }

  /** Adds the values that another column has in these rows. */
  pushStretches(from: IntColumn, rows: readonly Stretch[]): void {
    const source = from.#values;
    this.#reserve(rows.reduce((sum, { start, end }) => sum + end - start, this.#length));
    this.#widen(source.BYTES_PER_ELEMENT);
    const values = this.#values;
    let write = this.#length;
    for (const { start, end } of rows) {
      if (end - start > LONG_STRETCH) values.set(source.subarray(start, end), write);
      else for (let at = start; at < end; at += 1) values[write + at - start] = source[at] ?? 0;
      write += end - start;
    }
    this.#length = write;
  }

  /** Adds the entries that another column has in these rows, by their new indices. */
  pushShifted(from: IntColumn, rows: readonly Stretch[]): void {
    for (const { start, end, shift } of rows) {
      for (let row = start; row < end; row += 1) this.push(from.at(row) + shift);
    }
  }

  /** Adds one value so many times. */
  pushRepeated(value: number, times: number): void {
    for (let time = 0; time < times; time += 1) this.push(value);
  }

  /** The value in a row that exists. */
  at(row: number): number {
    return this.#values[row] ?? -1;
  }

  set(row: number, value: number): void {
    // It fits when nothing is lost by cutting it to the bits that this column has for it.
    if ((value << this.#unused) >> this.#unused !== value) this.#widen(bytesOf(value));
    this.#values[row] = value;
  }

  /** A copy of the rows that were pushed. */
  toArray(): Int32Array {
    return new Int32Array(this.#values.subarray(0, this.#length));
  }

  /**
   * Makes room. In a long column room for as much again would lie half idle; in a short one that is a few
   * bytes, and to grow in many steps costs more.
   */
  #reserve(capacity: number): void {
    const held = this.#values.length;
    if (capacity <= held) return;
    const grown = Math.ceil(held * (held < LONG_COLUMN ? 4 : 1.5));
    this.#values = copyOf(this.#values, this.#values.BYTES_PER_ELEMENT, Math.max(capacity, grown));
  }

  #widen(bytes: number): void {
    if (bytes <= this.#values.BYTES_PER_ELEMENT) return;
    this.#values = copyOf(this.#values, bytes, this.#values.length);
    this.#unused = 32 - 8 * bytes;
  }
}

function bytesOf(value: number): number {
  return (value << 16) >> 16 === value ? 2 : 4;
}

function copyOf(values: Values, bytes: number, capacity: number): Values {
  const copy = ofWidth(bytes, capacity);
  copy.set(values);
  return copy;
}

function ofWidth(bytes: number, capacity: number): Values {
  if (bytes === 1) return new Int8Array(capacity);
  return bytes === 2 ? new Int16Array(capacity) : new Int32Array(capacity);
}
