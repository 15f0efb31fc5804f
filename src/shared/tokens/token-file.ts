// The form in which the build hands tokens to the threads that count: how it is written, and how it is read.
// Compressing, embedding and loading it is done by others.
//
// All numbers are little-endian:
//
//   2 × uint32     mark · ranks
//   uint8 × ranks  length of each rank's token, 0 for a rank without one
//   the bytes of the tokens, by rank

import { arrangeInSlices } from './token-table.js';
import type { TokenArrays } from './token-table.js';

/** `ctf2`. Whoever changes the format counts it up. */
const MARK = 0x32667463;
const HEADER_BYTES = 8;
const MAX_UINT8 = 0xff;

/** Returns the file's bytes. @throws RangeError for a token of more than 255 bytes. */
export function encodeTokenFile({
  bytes,
  starts,
}: Pick<TokenArrays, 'bytes' | 'starts'>): Uint8Array<ArrayBuffer> {
  const ranks = starts.length - 1;
  const file = new Uint8Array(HEADER_BYTES + ranks + bytes.length);
  const view = new DataView(file.buffer);
  view.setUint32(0, MARK, true);
  view.setUint32(4, ranks, true);
  for (let rank = 0; rank < ranks; rank += 1) {
    const length = (starts[rank + 1] ?? 0) - (starts[rank] ?? 0);
    if (length > MAX_UINT8) {
      throw new RangeError(`A token file holds a token of at most ${MAX_UINT8}, got ${length}.`);
    }
    file[HEADER_BYTES + rank] = length;
  }
  file.set(bytes, HEADER_BYTES + ranks);
  return file;
}

/**
 * Returns the tokens of a file, in some 20 ms for those of o200k, yielding now and then. They share no memory with it.
 *
 * @throws RangeError for a file that is no token file of this version, or not a whole one.
 */
export function* decodeTokenFile(file: Uint8Array): Generator<void, TokenArrays, undefined> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < HEADER_BYTES || view.getUint32(0, true) !== MARK) {
    throw new RangeError('Expected a token file of this version, got something else.');
  }
  const ranks = view.getUint32(4, true);
  const bytesAt = HEADER_BYTES + ranks;
  const starts = new Int32Array(Math.min(ranks, file.length) + 1);
  let end = 0;
  for (let rank = 0; rank < starts.length - 1; rank += 1) {
    end += file[HEADER_BYTES + rank] ?? 0;
    starts[rank + 1] = end;
  }
  if (file.length !== bytesAt + end) {
    throw new RangeError(`Expected a token file of ${bytesAt + end} bytes, got ${file.length}.`);
  }
  // Not `slice`, which in a Buffer makes no copy and would keep all of the file.
  return yield* arrangeInSlices(new Uint8Array(file.subarray(bytesAt)), starts);
}
