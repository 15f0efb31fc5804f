// Writes records to a file so that a failure at any point affects only the records being written.

import type { FileHandle } from 'node:fs/promises';
import { encodeRemoval } from './removal-record.js';
import type { RemovalDraft } from './removal-record.js';

/** Text is encoded and written in pieces of about this many UTF-16 units, to keep event loop turns short. */
const PIECE_LENGTH = 1024 * 1024;

const LINE_BREAK = 0x0a;

/**
 * Writes records at the end of a file: one write per megabyte, then one `fdatasync`. Calls must not overlap.
 *
 * @param now the clock, in milliseconds since the epoch
 * @returns the end of the part of the file that is known to be on disk
 * @throws the system's error; what `encodeRemoval` throws. Any of the records may be in the file then; the next ones start on a
 *   new line.
 */
export async function writeRecords(
  file: FileHandle,
  drafts: readonly RemovalDraft[],
  now: () => number,
): Promise<number> {
  const { size: sizeBytes } = await file.stat();
  let text = (await isLineStart(file, sizeBytes)) ? '' : '\n';
  let endOffset = sizeBytes + text.length;
  for (const draft of drafts) {
    const encoded = encodeRemoval(draft, endOffset, now());
    text += encoded.line;
    endOffset += encoded.bytes;
    if (text.length < PIECE_LENGTH) continue;
    await writeAll(file, text);
    text = '';
  }
  await writeAll(file, text);
  await file.datasync();
  return endOffset;
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
