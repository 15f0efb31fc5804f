// The tables that a history index keeps: one row per tool call, tool response and file inclusion, in
// history order, none of the payloads. Entries and blocks are indices into the raw history.

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

/** No partner, no tool, nothing there. */
export const NONE = -1;

/** What a call does to files, as far as its tool is known and its parameters say so. */
export const CALL_ACCESS = { none: 0, read: 1, writeWhole: 2, writePart: 3 } as const;

/** What a call is for, which says how long its result is of use. `unknown`: its tool is not in the catalog. */
export const CALL_KIND = { unknown: 0, read: 1, write: 2, search: 3, command: 4 } as const;

/** Whether a call reads known lines of a file. */
export function readsLines({ kind, firstLine }: CallColumns, call: number): boolean {
  return kind.at(call) === CALL_KIND.read && firstLine.at(call) !== NONE;
}

/**
 * Bits of a response's flags: its tool failed; its result is a pointer already, or a summary line; it is a text
 * that can be cut short; it is an excerpt already. All but the first are noted only when results may be pruned.
 */
export const RESPONSE_FLAG = { failed: 1, pruned: 2, summary: 4, text: 8, excerpt: 16 } as const;

/** Whether a placeholder stands in place of a result already, by the flags of its response. */
export function isGone(flags: number): boolean {
  return (flags & (RESPONSE_FLAG.pruned | RESPONSE_FLAG.summary)) !== 0;
}

/** One row per tool call in an `ai` entry, in history order. */
export class CallColumns {
  readonly entry: IntColumn = new IntColumn();
  readonly block: IntColumn = new IntColumn();
  /** The row of its response, or `NONE` while it is open. */
  readonly response: IntColumn = new IntColumn();
  /** One of `CALL_ACCESS`. */
  readonly access: IntColumn = new IntColumn();
  /** The number of its parallel group, or `NONE`. */
  readonly group: IntColumn = new IntColumn();
  /** How many of `paths` are its own. */
  readonly pathCount: IntColumn = new IntColumn();
  /** Path ids: those of the first row, then those of the second, and so on. */
  readonly paths: IntColumn = new IntColumn();
  /** One of `CALL_KIND`; this and the next four when there may be a working set, else empty. */
  readonly kind: IntColumn = new IntColumn();
  /** The lines of its one file that it reads, counted from 1, or `NONE`. */
  readonly firstLine: IntColumn = new IntColumn();
  readonly lastLine: IntColumn = new IntColumn();
  /** Alike in calls of one tool with the same parameters. */
  readonly signature: IntColumn = new IntColumn();
  /** About how many tokens the arguments of a write have in texts that can be spent; as `kind`. */
  readonly spendable: IntColumn = new IntColumn();
  /** Numbers of their ids, when the history may be rewritten; else empty. */
  readonly id: IntColumn = new IntColumn();

  get length(): number {
    return this.entry.length;
  }

  /** Adds rows of another history's table. None of them is answered yet. */
  pushRows(from: CallColumns, rows: readonly Stretch[]): void {
    this.entry.pushShifted(from.entry, rows);
    this.block.pushStretches(from.block, rows);
    this.access.pushStretches(from.access, rows);
    this.group.pushStretches(from.group, rows);
    this.pathCount.pushStretches(from.pathCount, rows);
    this.kind.pushStretches(from.kind, rows);
    this.firstLine.pushStretches(from.firstLine, rows);
    this.lastLine.pushStretches(from.lastLine, rows);
    this.signature.pushStretches(from.signature, rows);
    this.spendable.pushStretches(from.spendable, rows);
    this.id.pushStretches(from.id, rows);
    this.response.pushRepeated(NONE, this.length - this.response.length);
    this.paths.pushStretches(from.paths, stretchesOfPaths(from.pathCount, rows));
  }
}

/** Where the paths of these rows stand. */
function stretchesOfPaths(pathCount: IntColumn, rows: readonly Stretch[]): readonly Stretch[] {
  const firstPaths = new Int32Array(pathCount.length + 1);
  let paths = 0;
  for (let row = 0; row < pathCount.length; row += 1) {
    paths += pathCount.at(row);
    firstPaths[row + 1] = paths;
  }
  return rows.map(({ start, end }) => ({
    start: firstPaths[start] ?? 0,
    end: firstPaths[end] ?? 0,
    shift: 0,
  }));
}

/** One row per complete tool response in a `tool` entry, in history order. */
export class ResponseColumns {
  readonly entry: IntColumn = new IntColumn();
  readonly block: IntColumn = new IntColumn();
  /** Tool ids, one per distinct tool name, when results may be pruned by recency; else empty. */
  readonly tool: IntColumn = new IntColumn();
  /** Bits of `RESPONSE_FLAG`. */
  readonly flags: IntColumn = new IntColumn();
  /** About how many tokens its result has, 0 for a placeholder, when there may be a working set; else empty. */
  readonly tokens: IntColumn = new IntColumn();
  /** A number of its own for each long text, and else 0; this and the next when results may be shrunk, else empty. */
  readonly text: IntColumn = new IntColumn();
  /** The number of a text with the ids of the calls whose results show what is left out of this one, or `NONE`. */
  readonly source: IntColumn = new IntColumn();
  /** Numbers of the ids of the calls that they answer, when the history may be rewritten; else empty. */
  readonly id: IntColumn = new IntColumn();

  get length(): number {
    return this.entry.length;
  }

  /** Adds rows of another history's table. */
  pushRows(from: ResponseColumns, rows: readonly Stretch[]): void {
    this.entry.pushShifted(from.entry, rows);
    this.block.pushStretches(from.block, rows);
    this.tool.pushStretches(from.tool, rows);
    this.flags.pushStretches(from.flags, rows);
    this.tokens.pushStretches(from.tokens, rows);
    this.text.pushStretches(from.text, rows);
    this.source.pushStretches(from.source, rows);
    this.id.pushStretches(from.id, rows);
  }
}

/** One row per response of a tool that still runs, in history order; kept when the history may be rewritten. */
export class PartialColumns {
  readonly entry: IntColumn = new IntColumn();
  readonly block: IntColumn = new IntColumn();
  /** The row of the call that it belongs to, or `NONE`. */
  readonly call: IntColumn = new IntColumn();
  /** The number of that call's id. */
  readonly id: IntColumn = new IntColumn();

  get length(): number {
    return this.entry.length;
  }

  /** Adds rows of another history's table. None of them belongs to a call yet. */
  pushRows(from: PartialColumns, rows: readonly Stretch[]): void {
    this.entry.pushShifted(from.entry, rows);
    this.block.pushStretches(from.block, rows);
    this.id.pushStretches(from.id, rows);
    this.call.pushRepeated(NONE, this.length - this.call.length);
  }
}

/** One row per file inclusion in a `human` entry, in history order. */
export class InclusionColumns {
  readonly entry: IntColumn = new IntColumn();
  readonly block: IntColumn = new IntColumn();
  readonly path: IntColumn = new IntColumn();
  /** The range of the block's text, or `NONE` for an inclusion of two whole blocks. */
  readonly start: IntColumn = new IntColumn();
  readonly end: IntColumn = new IntColumn();
  /** The blocks that open and close the group of a whole-block inclusion, else `NONE`. */
  readonly groupOpen: IntColumn = new IntColumn();
  readonly groupClose: IntColumn = new IntColumn();

  get length(): number {
    return this.entry.length;
  }

  /** Adds rows of another history's table. */
  pushRows(from: InclusionColumns, rows: readonly Stretch[]): void {
    this.entry.pushShifted(from.entry, rows);
    this.block.pushStretches(from.block, rows);
    this.path.pushStretches(from.path, rows);
    this.start.pushStretches(from.start, rows);
    this.end.pushStretches(from.end, rows);
    this.groupOpen.pushStretches(from.groupOpen, rows);
    this.groupClose.pushStretches(from.groupClose, rows);
  }
}
