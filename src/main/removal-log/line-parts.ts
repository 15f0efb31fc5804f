// Cuts a line of a removal log into what may be records. Only the mark of a record begins one: what stands
// inside a record is never read as another.

import { decodeRemoval, RECORD_MARK } from './removal-record.js';
import type { DecodedRemoval } from './removal-record.js';

/** A record, or bytes that hold none, by their place on the line. */
export type LinePart = DecodedRemoval & { readonly start: number; readonly end: number };

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/**
 * Yields the parts of a line in their order: one, or several when line breaks between records were lost.
 * Blank ones are left out; a byte order mark and white space around are no damage.
 */
export function* readLineParts(line: Buffer): Generator<LinePart> {
  let from = 0;
  while (from < line.length) {
    const mark = line.indexOf(RECORD_MARK, from + 1);
    const to = mark === -1 ? line.length : mark;
    const { start, end } = trimmed(line, from, to);
    if (start < end) yield { ...decodeRemoval(line.subarray(start, end)), start, end };
    from = to;
  }
}

function trimmed(
  line: Buffer,
  from: number,
  to: number,
): { readonly start: number; readonly end: number } {
  const behindMark = from + BYTE_ORDER_MARK.length;
  let start = line.subarray(from, behindMark).equals(BYTE_ORDER_MARK) ? behindMark : from;
  let end = to;
  while (start < end && isWhiteSpace(line[start])) start += 1;
  while (end > start && isWhiteSpace(line[end - 1])) end -= 1;
  return { start, end };
}

function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}
