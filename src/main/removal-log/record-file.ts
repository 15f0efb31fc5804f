// Writes records to a file so that a failure at any point affects only the records being written.

import type { FileHandle } from 'node:fs/promises';
import { encodeRemoval } from './removal-record.js';
import type { RemovalDraft } from './removal-record.js';

/** Text is encoded and written in pieces of about this many UTF-16 units, to keep event loop turns short. */
const PIECE_LENGTH = 1024 * 1024;

const LINE_BREAK = 0x0a;

/** The records of one open file. Calls of `write` must not overlap. */
export class RecordFile {
  readonly #file: FileHandle;
  readonly #now: () => number;
  #endOffset: number;

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
    const { size: sizeBytes } = await this.#file.stat();
    let text = (await isLineStart(this.#file, sizeBytes)) ? '' : '\n';
    let endOffset = sizeBytes + text.length;
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
  }
}

/** Whether a line begins at the end of a file: a record that was torn there has no line break. */
async function isLineStart(file: FileHandle, sizeBytes: number): Promise<boolean> {
  const last = Buffer.of(LINE_BREAK);
  if (sizeBytes > 0) await file.read(last, { position: sizeBytes - 1 });
  return last[0] === LINE_BREAK;
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
