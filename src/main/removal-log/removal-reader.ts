// Reads a removal log, whatever state it is in: every record that is whole, and word of
// everything else. Changes nothing in the file.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { appendFileOf } from './append-file.js';
import type { AppendFile } from './append-file.js';
import { splitByteLines } from './byte-lines.js';
import type { ByteLine } from './byte-lines.js';
import { readLineParts } from './line-parts.js';
import { MAX_RECORD_BYTES } from './removal-record.js';
import type { RemovalRecord, SkipReason } from './removal-record.js';
import { readFailed } from './removal-log-errors.js';

/** Where in a file the line of a record stands. */
export interface RecordLocation {
  readonly offset: number;
  readonly bytes: number;
}

/** Where a record is found again. */
export interface RecordPlace {
  /** Of its line in the file. */
  readonly offset: number;
  /** The lowest 32 bits of its number: a line has several records when line breaks were lost. */
  readonly seq: number;
}

export interface LocatedRemoval {
  readonly record: RemovalRecord;
  readonly location: RecordLocation;
}

/** Bytes that hold no record. */
export interface SkippedBytes {
  /** Counts from 1. */
  readonly line: number;
  /** Of the first byte in the file; behind NUL bytes on the same line it counts without those. */
  readonly offset: number;
  readonly bytes: number;
  readonly reason: SkipReason;
}

export interface ReadRemovalsOptions {
  /** Reads lines from this offset on. @default 0 */
  readonly startOffset?: number;
  /** Reads bytes before this offset only. @default the end of the file */
  readonly endOffset?: number;
}

/** A removal log, and the open file in which it is read whatever its path names by now. */
export interface RemovalSource {
  readonly path: string;
  /** @default opened by its path */
  readonly file?: Pick<AppendFile, 'read'> | undefined;
}

const CHUNK_BYTES = 256 * 1024;
/** Skipped places that are listed; all are counted. */
const MAX_LISTED = 1_000;
/** Records back to which a copy is recognized. */
const COPY_WINDOW = 65_536;

/**
 * A reading of a removal log: iterate it for the records in the order in which they were written. What
 * was skipped is known up to the record at hand, and completely at the end. Holds one line in memory,
 * however long the file.
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

  /** The first 1,000 places without a record. */
  get skipped(): readonly SkippedBytes[] {
    return this.#skipped;
  }

  /** Places without a record, listed or not. */
  get skippedPlaces(): number {
    return this.#skippedPlaces;
  }

  /** Bytes without a record, line breaks aside. */
  get skippedBytes(): number {
    return this.#skippedBytes;
  }

  /** @throws CtxfoldError `REMOVAL_LOG_READ_FAILED` when the file cannot be read. */
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
      yield* this.#readLine(line, lineNumber, crcBySeq);
    }
  }

  *#readLine(
    line: ByteLine,
    lineNumber: number,
    crcBySeq: Map<number, number>,
  ): Generator<LocatedRemoval> {
    const { offset, keptBytes, nulBytes, spanBytes } = line;
    if (nulBytes > 0) this.#skip(lineNumber, line.nulOffset, nulBytes, 'nul-bytes');
    if (line.isTooLong) {
      this.#skip(lineNumber, offset, keptBytes, 'too-long');
      return;
    }
    for (const part of readLineParts(line.bytes)) {
      const bytes = part.end - part.start;
      if (part.record === undefined) {
        this.#skip(lineNumber, offset + part.start, bytes, part.reason);
      } else if (crcBySeq.get(part.record.seq) === part.crc) {
        this.#skip(lineNumber, offset + part.start, bytes, 'copy');
      } else {
        // A number that comes again with another record is no copy: nothing is dropped for its number.
        remember(crcBySeq, part.record.seq, part.crc);
        yield { record: part.record, location: { offset, bytes: spanBytes } };
      }
    }
  }

  #skip(line: number, offset: number, bytes: number, reason: SkipReason): void {
    this.#skippedBytes += bytes;
    this.#skippedPlaces += 1;
    if (this.#skipped.length < MAX_LISTED) this.#skipped.push({ line, offset, bytes, reason });
  }
}

/** Reads what a `RemovalLog` wrote. Nothing is opened before the first record is asked for. */
export function readRemovals(path: string, options: ReadRemovalsOptions = {}): RemovalReading {
  return new RemovalReading({ path }, options);
}

/** Reads the record at a place that is known; `undefined` when it is not there any more. */
export async function readRemovalAt(
  source: RemovalSource,
  { offset, seq }: RecordPlace,
): Promise<RemovalRecord | undefined> {
  const reading = new RemovalReading(source, { startOffset: offset });
  for await (const { record, location } of reading) {
    if (location.offset !== offset) return undefined;
    if ((record.seq | 0) === seq) return record;
  }
  return undefined;
}

function remember(crcBySeq: Map<number, number>, seq: number, crc: number): void {
  crcBySeq.set(seq, crc);
  if (crcBySeq.size <= COPY_WINDOW) return;
  const [oldest] = crcBySeq.keys();
  if (oldest !== undefined) crcBySeq.delete(oldest);
}

async function* readChunks(
  { path, file }: RemovalSource,
  startOffset: number,
  endOffset: number,
): AsyncGenerator<Buffer> {
  let opened: FileHandle | undefined;
  try {
    const source = file ?? appendFileOf((opened = await openToRead(path)));
    for (let offset = startOffset; offset < endOffset;) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, endOffset - offset));
      const bytes = await source.read(buffer, offset);
      if (bytes === 0) return;
      offset += bytes;
      yield buffer.subarray(0, bytes);
    }
  } catch (error) {
    throw readFailed(path, error);
  } finally {
    await opened?.close();
  }
}

async function openToRead(path: string): Promise<FileHandle> {
  // Opening a pipe would wait for its other end.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new TypeError('Expected a regular file.');
}
