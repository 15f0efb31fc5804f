// Reads a removal log in any state: yields every intact record and reports everything else. Never
// changes the file.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { assertNumber, readOptions } from '../../shared/misuse.js';
import type { Checks } from '../../shared/misuse.js';
import { splitByteLines } from './byte-lines.js';
import { decodeRemoval, MAX_RECORD_BYTES, RECORD_MARK } from './removal-record.js';
import type { DecodedRemoval, RemovalRecord, SkipReason } from './removal-record.js';
import { readFailed } from './removal-log-errors.js';

/** Position of a record's line in the file. */
export interface RecordLocation {
  readonly offset: number;
  readonly bytes: number;
}

/** Identifies a record in the file. */
export interface RecordPlace {
  /** Offset of its line. */
  readonly offset: number;
  /** The offset at which it was written: a line has several records if line breaks were lost. */
  readonly seq: number;
}

export interface LocatedRemoval {
  readonly record: RemovalRecord;
  readonly location: RecordLocation;
}

/** Bytes that are not a record. */
export interface SkippedBytes {
  /** Counted from 1. */
  readonly line: number;
  /** Offset of the first byte in the file. NUL bytes before it on the same line are not counted. */
  readonly offset: number;
  readonly bytes: number;
  readonly reason: SkipReason;
}

export interface ReadRemovalsOptions {
  /** Reads from this offset on. @default 0 */
  readonly startOffset?: number;
  /** Reads up to this offset. @default the end of the file */
  readonly endOffset?: number;
}

const CHECKS: Checks<ReadRemovalsOptions> = {
  startOffset: assertNumber,
  endOffset: assertNumber,
};

/** A removal log, and the open file to read it from even if it was renamed. */
export interface RemovalSource {
  readonly path: string;
  /** A `FileHandle`; not named, because the package's declarations must not need Node's. @default opened by its path */
  readonly file?: ReadableFile | undefined;
}

interface ReadableFile {
  read(
    buffer: Uint8Array,
    options: { readonly position: number },
  ): Promise<{ readonly bytesRead: number }>;
}

/** A record, or bytes that are not a record, with their range on the line. */
type LinePart = DecodedRemoval & { readonly start: number; readonly end: number };

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
const CHUNK_BYTES = 256 * 1024;
/** Maximum number of skipped places that are listed. Further ones are only counted. */
const MAX_LISTED = 1_000;
/** Number of previous records that are remembered to recognize copies. */
const COPY_WINDOW = 65_536;

/**
 * One pass over a removal log. Iterating it yields the records in file order; the `skipped` properties
 * cover the file up to the current record. Holds one line in memory.
 */
export class RemovalReading implements AsyncIterable<LocatedRemoval> {
  readonly #source: RemovalSource;
  readonly #options: ReadRemovalsOptions;
  #skipped: SkippedBytes[] = [];
  #skippedBytes = 0;
  #skippedPlaces = 0;

  constructor(source: RemovalSource, options: ReadRemovalsOptions = {}) {
    this.#source = source;
    this.#options = options;
  }

  /** The first 1,000 skipped places. */
  get skipped(): readonly SkippedBytes[] {
    return this.#skipped;
  }

  /** Number of all skipped places. */
  get skippedPlaces(): number {
    return this.#skippedPlaces;
  }

  /** Number of skipped bytes, without line breaks. */
  get skippedBytes(): number {
    return this.#skippedBytes;
  }

  /** @throws CtxfoldError `REMOVAL_LOG_READ_FAILED` if the file cannot be read. */
  async *[Symbol.asyncIterator](): AsyncGenerator<LocatedRemoval> {
    this.#skipped = [];
    this.#skippedBytes = 0;
    this.#skippedPlaces = 0;
    const startOffset = this.#options.startOffset ?? 0;
    const chunks = readChunks(this.#source, startOffset, this.#options.endOffset ?? Infinity);
    const crcBySeq = new Map<number, number>();
    let lineNumber = 0;
    for await (const line of splitByteLines(chunks, startOffset, MAX_RECORD_BYTES)) {
      lineNumber += 1;
      const { offset, keptBytes, nulBytes, spanBytes } = line;
      if (nulBytes > 0) this.#skip(lineNumber, line.nulOffset, nulBytes, 'nul-bytes');
      if (line.isTooLong) this.#skip(lineNumber, offset, keptBytes, 'too-long');
      for (const part of line.isTooLong ? [] : readLineParts(line.bytes)) {
        const bytes = part.end - part.start;
        if (part.record === undefined) {
          this.#skip(lineNumber, offset + part.start, bytes, part.reason);
        } else if (crcBySeq.get(part.record.seq) === part.crc) {
          this.#skip(lineNumber, offset + part.start, bytes, 'copy');
        } else {
          // A repeated number with different content is not a copy, so the record is yielded.
          crcBySeq.set(part.record.seq, part.crc);
          const [oldest = 0] = crcBySeq.keys();
          if (crcBySeq.size > COPY_WINDOW) crcBySeq.delete(oldest);
          yield { record: part.record, location: { offset, bytes: spanBytes } };
        }
      }
    }
  }

  #skip(line: number, offset: number, bytes: number, reason: SkipReason): void {
    this.#skippedBytes += bytes;
    this.#skippedPlaces += 1;
    if (this.#skipped.length < MAX_LISTED) this.#skipped.push({ line, offset, bytes, reason });
  }
}

/**
 * Reads what a `RemovalLog` wrote. The file is opened when iteration starts.
 *
 * @throws TypeError or RangeError for an invalid or unknown option.
 */
export function readRemovals(path: string, options: ReadRemovalsOptions = {}): RemovalReading {
  return new RemovalReading({ path }, readOptions('options', options, CHECKS));
}

/** Reads the record at a known place; `undefined` if it is no longer there. */
export async function readRemovalAt(
  source: RemovalSource,
  { offset, seq }: RecordPlace,
): Promise<RemovalRecord | undefined> {
  const reading = new RemovalReading(source, { startOffset: offset });
  for await (const { record, location } of reading) {
    if (location.offset !== offset) return undefined;
    if (record.seq === seq) return record;
  }
  return undefined;
}

async function* readChunks(
  { path, file }: RemovalSource,
  startOffset: number,
  endOffset: number,
): AsyncGenerator<Buffer> {
  let opened: FileHandle | undefined;
  try {
    const source = file ?? (opened = await openToRead(path));
    for (let offset = startOffset; offset < endOffset;) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, endOffset - offset));
      const { bytesRead } = await source.read(buffer, { position: offset });
      if (bytesRead === 0) return;
      offset += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw readFailed(path, error);
  } finally {
    await opened?.close();
  }
}

async function openToRead(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a named pipe would block until its other end is opened.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new TypeError('Expected a regular file.');
}

/**
 * Splits a line at record marks, so that content of a record is never read as another record. Yields
 * several parts if line breaks between records were lost, and no blank ones. Ignores a byte order mark
 * and surrounding white space.
 */
function* readLineParts(line: Buffer): Generator<LinePart> {
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
