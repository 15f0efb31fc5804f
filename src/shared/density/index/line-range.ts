// Which lines of a file a call reads, as far as its parameters say so.

import { asRecord } from '../../json.js';
import type { LineKeys } from '../../tool-catalog.js';

/** Lines counted from 1, both ends included. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/**
 * What a read without a range shows. Agents' tools stop at about this line (Claude Code and Codex at 2,000), so that such a
 * read does not stand for one of lines further down.
 */
export const WHOLE_FILE: LineRange = { first: 1, last: 2_000 };

/** Larger line numbers are not told apart. */
const MAX_LINE = 2 ** 30;

/** The lines that a call wants; `undefined` when its parameters are not as the keys say. */
export function linesRead(keys: LineKeys, parameters: unknown): LineRange | undefined {
  const values = asRecord(parameters);
  if (values === undefined) return undefined;
  const valueOf = (key: string | undefined): unknown =>
    key === undefined ? undefined : (values[key] ?? undefined);
  const pair = valueOf(keys.range);
  if (pair !== undefined) return rangeOfPair(pair);
  const first = valueOf(keys.first);
  const last = valueOf(keys.last);
  const count = valueOf(keys.count);
  if (first === undefined && last === undefined && count === undefined) return WHOLE_FILE;
  const from = first === undefined ? 1 : lineOf(first);
  if (from === undefined) return undefined;
  if (last !== undefined) return rangeOf(from, lineOf(last));
  const lines = count === undefined ? WHOLE_FILE.last : lineOf(count);
  return lines === undefined ? undefined : rangeOf(from, from + lines - 1);
}

/** The range from one line to another; `undefined` when that is none. */
export function rangeOf(first: number, last: number | undefined): LineRange | undefined {
  if (last === undefined || last < first) return undefined;
  return { first: Math.min(first, MAX_LINE), last: Math.min(last, MAX_LINE) };
}

/** Some tools take lists as text. */
function rangeOfPair(value: unknown): LineRange | undefined {
  const pair =
    typeof value === 'string'
      ? /^\s*\[\s*(\d+)\s*,\s*(-?\d+)\s*\]\s*$/.exec(value)?.slice(1)
      : value;
  if (!Array.isArray(pair)) return undefined;
  const [first, last] = pair.map(Number);
  if (first === undefined || last === undefined || !Number.isSafeInteger(first)) return undefined;
  return rangeOf(Math.max(1, first), last === -1 ? MAX_LINE : last);
}

/** Line numbers may come as text; 0 is where some tools begin to count. */
function lineOf(value: unknown): number | undefined {
  const line = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof line === 'number' && Number.isSafeInteger(line) && line >= 0
    ? Math.max(1, line)
    : undefined;
}
