// The form in which the build hands tokens to the threads that count: how it is written, and how it is read.
// Compressing, embedding and loading it is done by others.
//
//   2 × uint32, little-endian: mark · ranks
//   the bytes of each rank's token and, behind them, END; a byte that is END or ESCAPE stands as ESCAPE and 1 or 0
//
// No UTF-8 holds either byte, and a compressor likes ends better than lengths: the tokens take 6 % less.

import { arrangeInSlices } from './token-table.js';
import type { TokenArrays } from './token-table.js';

/** `ctf2`. Whoever changes the format counts it up. */
const MARK = 0x32667463;
const HEADER_BYTES = 8;
const ESCAPE = 0xfe;
const END = 0xff;

/** Returns the file's bytes. */
export function encodeTokenFile({
  bytes,
  starts,
}: Pick<TokenArrays, 'bytes' | 'starts'>): Uint8Array<ArrayBuffer> {
  const ranks = starts.length - 1;
  const file = new Uint8Array(HEADER_BYTES + ranks + bytes.length * 2);
  const view = new DataView(file.buffer);
  view.setUint32(0, MARK, true);
  view.setUint32(4, ranks, true);
  let at = HEADER_BYTES;
  for (let rank = 0; rank < ranks; rank += 1) {
    for (const byte of bytes.subarray(starts[rank], starts[rank + 1])) {
      if (byte >= ESCAPE) file[at++] = ESCAPE;
      file[at++] = byte >= ESCAPE ? byte - ESCAPE : byte;
    }
    file[at++] = END;
  }
  return file.slice(0, at);
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
  const bytes = new Uint8Array(file.length);
  const ends: number[] = [];
  let end = 0;
  for (let at = HEADER_BYTES; at < file.length; at += 1) {
    const byte = file[at] ?? 0;
    if (byte === END) {
      ends.push(end);
      if (ends.length % SLICE_TOKENS === 0) yield;
    } else if (byte === ESCAPE) {
      at += 1;
      bytes[end++] = ESCAPE + (file[at] ?? 0);
    } else {
      bytes[end++] = byte;
    }
  }
  const isWhole = file.length === HEADER_BYTES || file.at(-1) === END;
  if (!isWhole || ends.length !== ranks) {
    throw new RangeError(`Expected a token file of ${ranks} tokens, got ${ends.length}.`);
  }
  return yield* arrangeInSlices(bytes.slice(0, end), Int32Array.from([0, ...ends]));
}

/** Tokens that are read before the event loop may have a turn, in about 1 ms. */
const SLICE_TOKENS = 32_768;
