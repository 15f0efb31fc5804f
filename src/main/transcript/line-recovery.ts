// Finds the records on one line of a transcript: the usual one, or what a damaged line still holds.

import { crc32 } from 'node:zlib';
import { CHECKSUM_KEY, decodeRemoval, RECORD_START, readChecksum } from './removal-record.js';
import type { RemovalRecord, SkipReason } from './removal-record.js';

/** A record, or bytes that hold none, by their place on the line. */
export type LinePart =
  | {
      readonly record: RemovalRecord;
      readonly crc: number;
      readonly start: number;
      readonly end: number;
    }
  | {
      readonly record?: never;
      readonly reason: SkipReason;
      readonly start: number;
      readonly end: number;
    };

/**
 * Places on a damaged line that are tried as the start of a record and fail. Each costs one pass over
 * the line, and a tool's parameters may hold any number of them.
 */
const MAX_FAILED_STARTS = 64;

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/**
 * Returns the parts of a line in their order. Blank lines have none; a byte order mark and white space
 * around are no damage.
 *
 * Records that were joined, and one behind a torn one, are found by their checksums alone: from a
 * start, the CRC is continued from one possible end to the next until it is the one that stands there.
 */
export function readLineParts(line: Buffer): readonly LinePart[] {
  const { start, end } = trimmed(line);
  if (start === end) return [];
  const whole = decodeRemoval(line.subarray(start, end));
  if (whole.record !== undefined) return [{ ...whole, start, end }];
  const parts: LinePart[] = [];
  let read = start;
  for (const found of findRecords(line.subarray(0, end), start)) {
    pushSkipped(parts, line, read, found.start);
    parts.push(found);
    read = found.end;
  }
  if (read === start) return [{ reason: whole.reason, start, end }];
  pushSkipped(parts, line, read, end);
  return parts;
}

function* findRecords(line: Buffer, from: number): Generator<LinePart> {
  let failedStarts = 0;
  let start = line.indexOf(RECORD_START, from);
  while (start !== -1 && failedStarts < MAX_FAILED_STARTS) {
    const end = endOfRecord(line, start);
    if (end === undefined) {
      failedStarts += 1;
      start = line.indexOf(RECORD_START, start + 1);
    } else {
      yield { ...decodeRemoval(line.subarray(start, end)), start, end };
      start = line.indexOf(RECORD_START, end);
    }
  }
}

function endOfRecord(line: Buffer, start: number): number | undefined {
  let crc = 0;
  let summedEnd = start;
  for (
    let key = line.indexOf(CHECKSUM_KEY, start);
    key !== -1;
    key = line.indexOf(CHECKSUM_KEY, key + 1)
  ) {
    crc = crc32(line.subarray(summedEnd, key), crc);
    summedEnd = key;
    const claimed = readChecksum(line, key);
    if (claimed?.crc === crc) return claimed.end;
  }
  return undefined;
}

function pushSkipped(parts: LinePart[], line: Buffer, start: number, end: number): void {
  const gap = trimmed(line.subarray(start, end));
  if (gap.start === gap.end) return;
  const decoded = decodeRemoval(line.subarray(start + gap.start, start + gap.end));
  // A record that is whole here would have been found.
  const reason = decoded.record === undefined ? decoded.reason : 'no-record';
  parts.push({ reason, start: start + gap.start, end: start + gap.end });
}

/** The part of a line that is neither white space nor a byte order mark at its start. */
function trimmed(line: Buffer): { readonly start: number; readonly end: number } {
  const hasMark = line.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  let start = hasMark ? BYTE_ORDER_MARK.length : 0;
  let end = line.length;
  while (start < end && isWhiteSpace(line[start])) start += 1;
  while (end > start && isWhiteSpace(line[end - 1])) end -= 1;
  return { start, end };
}

function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}
