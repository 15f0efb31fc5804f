// The tables that a history index keeps: one row per tool call, tool response and file inclusion, in
// history order, none of the payloads. Entries and blocks are indices into the raw history.

import { IntColumn } from './int-column.js';

/** No partner, no tool, nothing there. */
export const NONE = -1;

/** What a call does to files, as far as its tool is known and its parameters say so. */
export const CALL_ACCESS = { none: 0, read: 1, writeWhole: 2, writePart: 3 } as const;

/** Bits of a response's flags: its tool failed; its result is the pointer already, noted only when results are pruned by recency. */
export const RESPONSE_FLAG = { failed: 1, pruned: 2 } as const;

/** One row per tool call in an `ai` entry, in history order. */
export class CallColumns {
  readonly entry: IntColumn = new IntColumn();
  readonly block: IntColumn = new IntColumn();
  /** The row of its response, or `NONE` while it is open. */
  readonly response: IntColumn = new IntColumn();
  /** One of `CALL_ACCESS`. */
  readonly access: IntColumn = new IntColumn();
  /** Its paths are the rows `[firstPath, firstPath + pathCount)` of `paths`. */
  readonly firstPath: IntColumn = new IntColumn();
  readonly pathCount: IntColumn = new IntColumn();
  /** Path ids. */
  readonly paths: IntColumn = new IntColumn();
  /** Their ids, when the history may be rewritten; else empty. */
  readonly ids: string[] = [];

  get length(): number {
    return this.entry.length;
  }
}

/** One row per complete tool response in a `tool` entry, in history order. */
export class ResponseColumns {
  readonly entry: IntColumn = new IntColumn();
  readonly block: IntColumn = new IntColumn();
  /** Tool ids, one per distinct tool name; `NONE` when results are not pruned by recency. */
  readonly tool: IntColumn = new IntColumn();
  /** Bits of `RESPONSE_FLAG`. */
  readonly flags: IntColumn = new IntColumn();
  /** The ids of the calls that they answer, when the history may be rewritten; else empty. */
  readonly ids: string[] = [];

  get length(): number {
    return this.entry.length;
  }
}

/** One row per response of a tool that still runs, in history order; kept when the history may be rewritten. */
export class PartialColumns {
  readonly entry: IntColumn = new IntColumn();
  /** The row of the call that it belongs to, or `NONE`. */
  readonly call: IntColumn = new IntColumn();
  readonly ids: string[] = [];

  get length(): number {
    return this.entry.length;
  }
}

/** By entry, the first row that it could have in each table; kept when the history may be rewritten. */
export class EntryRows {
  readonly call: IntColumn = new IntColumn();
  readonly response: IntColumn = new IntColumn();
  readonly partial: IntColumn = new IntColumn();
  readonly inclusion: IntColumn = new IntColumn();
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

  /** Adds a row of another table, for the inclusion of another entry's index. */
  copyRow(from: InclusionColumns, row: number, entry: number): void {
    this.entry.push(entry);
    this.block.push(from.block.at(row));
    this.path.push(from.path.at(row));
    this.start.push(from.start.at(row));
    this.end.push(from.end.at(row));
    this.groupOpen.push(from.groupOpen.at(row));
    this.groupClose.push(from.groupClose.at(row));
  }
}
