// The tables of a history index: one row per tool call, tool response and file inclusion, in
// history order, without payloads. Entries and blocks are indices into the raw history.

const FIRST_CAPACITY = 64;
const LONG_COLUMN = 1_024;
/** From this length on, `set` beats copying value by value. */
const LONG_STRETCH = 32;

type Values = Int8Array | Int16Array | Int32Array;

/** Adjacent entries or rows of the former history that stay adjacent in the new one. */
export interface Stretch {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** Added to an old entry index to get the new one. */
  readonly shift: number;
}

/** A growable column of 32-bit integers, stored in 8 bits each until a value needs 16, then 32. */
export class IntColumn {
  #values: Values = new Int8Array(FIRST_CAPACITY);
  #length = 0;
  /** 32 minus the bits per stored value. */
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

  /** Appends these rows of another column. */
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

  /** Appends these rows of another column of entry indices, shifted to their new indices. */
  pushShifted(from: IntColumn, rows: readonly Stretch[]): void {
    for (const { start, end, shift } of rows) {
      for (let row = start; row < end; row += 1) this.push(from.at(row) + shift);
    }
  }

  pushRepeated(value: number, times: number): void {
    for (let time = 0; time < times; time += 1) this.push(value);
  }

  /** The value of an existing row. */
  at(row: number): number {
    return this.#values[row] ?? -1;
  }

  set(row: number, value: number): void {
    // The value fits if truncating it to the column's width loses nothing.
    if ((value << this.#unused) >> this.#unused !== value) this.#widen(bytesOf(value));
    this.#values[row] = value;
  }

  toArray(): Int32Array {
    return new Int32Array(this.#values.subarray(0, this.#length));
  }

  /** Short columns grow by a factor of 4 to save steps; long ones by 1.5 to save memory. */
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
  const Column = bytes === 1 ? Int8Array : bytes === 2 ? Int16Array : Int32Array;
  const copy = new Column(capacity);
  copy.set(values);
  return copy;
}

/** Means: no partner, no tool, absent. */
export const NONE = -1;

/** What a call does to files, as far as the tool is known and the parameters tell. */
export const CALL_ACCESS = { none: 0, read: 1, writeWhole: 2, writePart: 3 } as const;

/**
 * What a call is for; decides how long its result is useful. `unknown`: the tool is not in the
 * catalog.
 */
export const CALL_KIND = {
  unknown: 0,
  read: 1,
  write: 2,
  search: 3,
  command: 4,
  ask: 5,
  instruct: 6,
} as const;

/** Whether a call reads known lines of a file. */
export function readsLines({ kind, firstLine }: CallColumns, call: number): boolean {
  return kind.at(call) === CALL_KIND.read && firstLine.at(call) !== NONE;
}

/**
 * Bits of a response's flags. `failed`: its tool failed. `pruned`, `summary`: its result is a
 * pointer or a summary line. `text`: long enough for an excerpt. `excerpt`: is an excerpt. All but
 * `failed` are only set if the scope allows pruning results.
 */
export const RESPONSE_FLAG = { failed: 1, pruned: 2, summary: 4, text: 8, excerpt: 16 } as const;

/** Whether the result is a placeholder already. */
export function hasPlaceholder(flags: number): boolean {
  return (flags & (RESPONSE_FLAG.pruned | RESPONSE_FLAG.summary)) !== 0;
}

/** A table: its columns are its fields. The rows, which name a block each, are in history order. */
class BlockColumns {
  readonly entry: IntColumn = new IntColumn();
  readonly block: IntColumn = new IntColumn();

  get length(): number {
    return this.entry.length;
  }

  /** Appends rows of another history's table. Columns that are not copied row by row must follow. */
  pushRows(from: this, rows: readonly Stretch[], others: readonly IntColumn[] = []): void {
    const sources = columnsOf(from);
    for (const [at, column] of columnsOf(this).entries()) {
      const source = sources[at];
      if (source === undefined || others.includes(column)) continue;
      if (column === this.entry) column.pushShifted(source, rows);
      else column.pushStretches(source, rows);
    }
  }
}

function columnsOf(table: BlockColumns): readonly IntColumn[] {
  return Object.values(table).filter((value) => value instanceof IntColumn);
}

/** One row per tool call in an `ai` entry. */
export class CallColumns extends BlockColumns {
  /** The row of its response, or `NONE` while open. */
  readonly response: IntColumn = new IntColumn();
  /** One of `CALL_ACCESS`. */
  readonly access: IntColumn = new IntColumn();
  /** The id of its parallel group, or `NONE`. */
  readonly group: IntColumn = new IntColumn();
  /** How many entries of `paths` belong to it. */
  readonly pathCount: IntColumn = new IntColumn();
  /** Path ids of all rows, concatenated. */
  readonly paths: IntColumn = new IntColumn();
  /**
   * One of `CALL_KIND`. This and the next four columns are empty without `workingSet` in the scope.
   */
  readonly kind: IntColumn = new IntColumn();
  /** The lines it reads of its only file, counted from 1, or `NONE`. */
  readonly firstLine: IntColumn = new IntColumn();
  readonly lastLine: IntColumn = new IntColumn();
  /** Equal for calls of one tool with the same parameters. */
  readonly signature: IntColumn = new IntColumn();
  /** Estimated tokens of spendable texts in the arguments of a write. */
  readonly spendable: IntColumn = new IntColumn();
  /** Id numbers; empty if the index keeps no ids. */
  readonly id: IntColumn = new IntColumn();
  /** Numbers of names, see `callName`; empty without `unsent` in the scope. */
  readonly name: IntColumn = new IntColumn();

  /** Appends rows of another history's table, all unanswered. */
  override pushRows(from: this, rows: readonly Stretch[]): void {
    super.pushRows(from, rows, [this.response, this.paths]);
    this.response.pushRepeated(NONE, this.length - this.response.length);
    this.paths.pushStretches(from.paths, stretchesOfPaths(from.pathCount, rows));
  }
}

/** The positions of these rows' paths. */
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

/**
 * One row per tool response in a `tool` entry. Those of tools that still run have a table of their own, only if the history may be
 * rewritten.
 */
export class AnswerColumns extends BlockColumns {
  /** The row of the call it answers, or `NONE`. */
  readonly call: IntColumn = new IntColumn();
  /** Id numbers of the calls; empty if the index keeps no ids. */
  readonly id: IntColumn = new IntColumn();

  /** Appends rows of another history's table, not yet paired with calls. */
  override pushRows(from: this, rows: readonly Stretch[]): void {
    super.pushRows(from, rows, [this.call]);
    this.call.pushRepeated(NONE, this.length - this.call.length);
  }
}

/** One row per complete tool response. */
export class ResponseColumns extends AnswerColumns {
  /** Tool ids; empty without `recency` in the scope. */
  readonly tool: IntColumn = new IntColumn();
  /** Bits of `RESPONSE_FLAG`. */
  readonly flags: IntColumn = new IntColumn();
  /**
   * Estimated tokens of the result, 0 for a placeholder; empty without `workingSet` in the scope.
   */
  readonly tokens: IntColumn = new IntColumn();
  /**
   * A unique number for each long text, else 0. This and `source` are empty without `unsent` in the
   * scope.
   */
  readonly text: IntColumn = new IntColumn();
  /**
   * The number of a text that lists the ids of calls this result refers to for left-out lines, or
   * `NONE`.
   */
  readonly source: IntColumn = new IntColumn();
}

/** One row per file inclusion in a `human` entry. */
export class InclusionColumns extends BlockColumns {
  readonly path: IntColumn = new IntColumn();
  /** The range within the block's text, or `NONE` for an inclusion of two whole blocks. */
  readonly start: IntColumn = new IntColumn();
  readonly end: IntColumn = new IntColumn();
  /** The blocks that open and close the group of a whole-block inclusion, or `NONE`. */
  readonly groupOpen: IntColumn = new IntColumn();
  readonly groupClose: IntColumn = new IntColumn();
}
