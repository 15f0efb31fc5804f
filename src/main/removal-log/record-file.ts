// Writes records to a file so that a failure at any point harms none but those being written. Knows the
// numbers of records and where lines begin; knows no queue.

import type { AppendFile } from './append-file.js';
import type { PendingAppend } from './pending-append.js';
import { encodeRemoval } from './removal-record.js';
import type { RemovalDraft } from './removal-record.js';
import type { LogTail } from './log-tail.js';
import { writeFailed } from './removal-log-errors.js';

/** Text is encoded and written in pieces of about this many UTF-16 units, so that no turn of the event loop is long. */
const PIECE_LENGTH = 1024 * 1024;

/** The records of one open file. Calls of `write` must not overlap. */
export class RecordFile {
  readonly #path: string;
  readonly #file: AppendFile;
  readonly #now: () => number;
  #nextSeq: number;
  #endOffset: number;
  /** Whether the file is known to end in a line break at `endOffset`. */
  #isAtLineStart: boolean;

  /** @param now the clock, in milliseconds since the epoch */
  constructor(path: string, file: AppendFile, tail: LogTail, now: () => number) {
    this.#path = path;
    this.#file = file;
    this.#now = now;
    this.#nextSeq = tail.lastSeq + 1;
    this.#endOffset = tail.sizeBytes;
    this.#isAtLineStart = tail.endsInLineBreak;
  }

  /** Bytes of the file that it held when it was opened, or that are on the device since. */
  get endOffset(): number {
    return this.#endOffset;
  }

  /**
   * Writes a batch: a piece per megabyte, then one `fdatasync`. A record that cannot be encoded fails
   * its own append, not the batch; what that append had written before it stays in the file.
   *
   * @throws the system's error; any part of the batch may be in the file then. The next batch has
   * other numbers and starts on a line of its own.
   */
  async write(batch: readonly PendingAppend[]): Promise<void> {
    const { sizeBytes, isLinked } = await this.#file.status();
    if (!isLinked) throw new Error('the file was deleted while it was open; open the path again');
    const startsLine = this.#isAtLineStart && sizeBytes === this.#endOffset;
    let text = startsLine ? '' : '\n';
    let endOffset = sizeBytes + text.length;
    // A number above its place is never gone on from: one that is damaged or made up would leave none for
    // what follows. Writes that fail take some as well, and a file can be cut off.
    this.#nextSeq = Math.min(this.#nextSeq, endOffset);
    // Until all is on the device, nobody knows where in a line the file ends.
    this.#isAtLineStart = false;
    for (const { append, draft } of draftsOf(batch)) {
      const encoded = this.#encode(append, draft);
      if (encoded === undefined) continue;
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

  #encode(
    append: PendingAppend,
    draft: RemovalDraft,
  ): ReturnType<typeof encodeRemoval> | undefined {
    if (append.isSettled) return undefined;
    try {
      const encoded = encodeRemoval(draft, this.#nextSeq, this.#now());
      this.#nextSeq += 1;
      return encoded;
    } catch (error) {
      append.reject(writeFailed(this.#path, error));
      return undefined;
    }
  }
}

function* draftsOf(
  batch: readonly PendingAppend[],
): Generator<{ readonly append: PendingAppend; readonly draft: RemovalDraft }> {
  for (const append of batch) {
    for (const draft of append.drafts) yield { append, draft };
  }
}

/** A write may be cut short without an error; the next one then tells why. */
async function writeAll(file: AppendFile, text: string): Promise<void> {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    const bytes = await file.write(rest);
    if (bytes <= 0) throw new Error('the system took no bytes and gave no reason');
    rest = rest.subarray(bytes);
  }
}
