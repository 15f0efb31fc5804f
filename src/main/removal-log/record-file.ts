// Writes records to a file so that a failure at any point affects only the records being written. Assigns record numbers and keeps
// track of line starts.

import type { FileHandle } from 'node:fs/promises';
import { encodeRemoval } from './removal-record.js';
import type { RemovalDraft } from './removal-record.js';
import { RemovalReading } from './removal-reader.js';

/** State of the end of a removal log. */
export interface LogTail {
  readonly sizeBytes: number;
  /** Whether the next append starts a new line. */
  readonly endsInLineBreak: boolean;
  /** The highest record number, or -1 if the file has no records. */
  readonly lastSeq: number;
}

const FIRST_WINDOW_BYTES = 64 * 1024;
const WINDOW_GROWTH = 8;
const LINE_BREAK = 0x0a;
/** Text is encoded and written in pieces of about this many UTF-16 units, to keep event loop turns short. */
const PIECE_LENGTH = 1024 * 1024;

/** The records of one open file. Calls of `write` must not overlap. */
export class RecordFile {
  readonly #file: FileHandle;
  readonly #now: () => number;
  #nextSeq: number;
  #endOffset: number;
  /** Whether the file is known to end in a line break at `endOffset`. */
  #isAtLineStart: boolean;

  /** @param now the clock, in milliseconds since the epoch */
  constructor(file: FileHandle, tail: LogTail, now: () => number) {
    this.#file = file;
    this.#now = now;
    this.#nextSeq = tail.lastSeq + 1;
    this.#endOffset = tail.sizeBytes;
    this.#isAtLineStart = tail.endsInLineBreak;
  }

  /** End of the part of the file that is known to be on disk. */
  get endOffset(): number {
    return this.#endOffset;
  }

  /**
   * Writes records: one write per megabyte, then one `fdatasync`.
   *
   * @throws the system's error; what `encodeRemoval` throws. Any of the records may be in the file then; the next ones get new
   * numbers and start on a new line.
   */
  async write(drafts: readonly RemovalDraft[]): Promise<void> {
    const { size: sizeBytes, nlink } = await this.#file.stat();
    if (nlink === 0) throw new Error('the file was deleted while it was open; open the path again');
    const startsLine = this.#isAtLineStart && sizeBytes === this.#endOffset;
    let text = startsLine ? '' : '\n';
    let endOffset = sizeBytes + text.length;
    // A record's number never exceeds its offset; otherwise a damaged or forged number could exhaust the numbers. The minimum also
    // applies after failed writes, which use up numbers, and after a truncation.
    this.#nextSeq = Math.min(this.#nextSeq, endOffset);
    // Not known until the records are on disk, so assume the worst.
    this.#isAtLineStart = false;
    for (const draft of drafts) {
      const encoded = encodeRemoval(draft, this.#nextSeq, this.#now());
      this.#nextSeq += 1;
      text += encoded.line;
      endOffset += encoded.bytes;
      if (text.length < PIECE_LENGTH) continue;
      await writeAll(this.#file, text);
      text = '';
    }
    await writeAll(this.#file, text);
    await this.#file.datasync();
    this.#endOffset = endOffset;
    this.#isAtLineStart = true;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Writes everything. A short write comes without an error, so the rest is written again, which fails with the reason. */
async function writeAll(file: FileHandle, text: string): Promise<void> {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    const { bytesWritten } = await file.write(rest);
    if (bytesWritten <= 0) throw new Error('the system took no bytes and gave no reason');
    rest = rest.subarray(bytesWritten);
  }
}

/**
 * Reads the end of a log, backwards in growing windows until one contains a record, so that opening a long log is fast. Record numbers
 * ascend, so the highest number among the last records is the highest of all.
 */
export async function readLogTail(path: string, file: FileHandle): Promise<LogTail> {
  const { size: sizeBytes } = await file.stat();
  const last = Buffer.of(LINE_BREAK);
  if (sizeBytes > 0) await file.read(last, { position: sizeBytes - 1 });
  let lastSeq = -1;
  let windowBytes = FIRST_WINDOW_BYTES;
  for (let startOffset = sizeBytes; startOffset > 0 && lastSeq === -1;) {
    startOffset = Math.max(0, sizeBytes - windowBytes);
    const window = { startOffset, endOffset: sizeBytes };
    for await (const { record } of new RemovalReading({ path, file }, window)) {
      lastSeq = Math.max(lastSeq, record.seq);
    }
    windowBytes *= WINDOW_GROWTH;
  }
  return { sizeBytes, endsInLineBreak: last[0] === LINE_BREAK, lastSeq };
}
