// Writes records to a file so that a failure at any point affects only the records being written. Keeps track of line starts.

import type { FileHandle } from 'node:fs/promises';
import { encodeRemoval } from './removal-record.js';
import type { RemovalDraft } from './removal-record.js';

/** Text is encoded and written in pieces of about this many UTF-16 units, to keep event loop turns short. */
const PIECE_LENGTH = 1024 * 1024;

/** The records of one open file. Calls of `write` must not overlap. */
export class RecordFile {
  readonly #file: FileHandle;
  readonly #now: () => number;
  #endOffset: number;
  /** Whether the file is known to end in a line break at `endOffset`. */
  #isAtLineStart = false;

  /**
   * @param endOffset the size of the file
   * @param now the clock, in milliseconds since the epoch
   */
  constructor(file: FileHandle, endOffset: number, now: () => number) {
    this.#file = file;
    this.#now = now;
    this.#endOffset = endOffset;
  }

  /** End of the part of the file that is known to be on disk. */
  get endOffset(): number {
    return this.#endOffset;
  }

  /**
   * Writes records: one write per megabyte, then one `fdatasync`.
   *
   * @throws the system's error; what `encodeRemoval` throws. Any of the records may be in the file then; the next ones start on a
   * new line.
   */
  async write(drafts: readonly RemovalDraft[]): Promise<void> {
    const { size: sizeBytes, nlink } = await this.#file.stat();
    if (nlink === 0) throw new Error('the file was deleted while it was open; open the path again');
    const startsLine = sizeBytes === 0 || (this.#isAtLineStart && sizeBytes === this.#endOffset);
    let text = startsLine ? '' : '\n';
    let endOffset = sizeBytes + text.length;
    // Not known until the records are on disk, so assume the worst.
    this.#isAtLineStart = false;
    for (const draft of drafts) {
      const encoded = encodeRemoval(draft, endOffset, this.#now());
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
