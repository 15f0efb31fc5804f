// The file in which the build leaves arranged tokens, so that a thread which counts reads them and
// builds nothing: how it is written, and how it is read. Files themselves are opened by others.
//
// All numbers are little-endian:
//
//   4 × uint32     mark · ranks · tokens · bytes
//   int32 × tokens taken slots, in their order
//   uint8 × tokens free slots before each of them
//   uint8 × ranks  length of each rank's token, 0 for a rank without one
//   uint8 × bytes  bytes of the tokens, by rank

import { slotCount } from './token-table.js';
import type { TokenArrays } from './token-table.js';

/** `ctf1`. Whoever changes the format or the hash of a slot counts it up. */
const MARK = 0x31667463;
const HEADER_BYTES = 16;
const SLOT_BYTES = 4;
const MAX_UINT8 = 0xff;

/** Returns the file's bytes. @throws RangeError for a token, or a run of free slots, of more than 255. */
export function encodeTokenFile({ bytes, starts, slots }: TokenArrays): Uint8Array<ArrayBuffer> {
  const ranks = starts.length - 1;
  const tokens = slots.reduce((taken, slot) => taken + (slot === 0 ? 0 : 1), 0);
  const file = new Uint8Array(fileLength(ranks, tokens, bytes.length));
  const view = new DataView(file.buffer);
  for (const [index, value] of [MARK, ranks, tokens, bytes.length].entries()) {
    view.setUint32(index * 4, value, true);
  }
  let slotAt = HEADER_BYTES;
  let at = HEADER_BYTES + tokens * SLOT_BYTES;
  let free = 0;
  for (const slot of slots) {
    if (slot === 0) {
      free += 1;
      continue;
    }
    view.setInt32(slotAt, slot, true);
    slotAt += SLOT_BYTES;
    file[at++] = asUint8('a run of free slots', free);
    free = 0;
  }
  for (let rank = 0; rank < ranks; rank += 1) {
    const length = (starts[rank + 1] ?? 0) - (starts[rank] ?? 0);
    file[at++] = asUint8('a token', length);
  }
  file.set(bytes, at);
  return file;
}

/**
 * Returns the tokens of a file, in some 6 ms for those of o200k. They share no memory with it.
 *
 * @throws RangeError for a file that is no token file of this version, or not a whole one.
 */
export function decodeTokenFile(file: Uint8Array): TokenArrays {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < HEADER_BYTES || view.getUint32(0, true) !== MARK) {
    throw new RangeError('Expected a token file of this version, got something else.');
  }
  const [ranks, tokens, byteCount] = [4, 8, 12].map((at) => view.getUint32(at, true)) as [
    ranks: number,
    tokens: number,
    byteCount: number,
  ];
  const expected = fileLength(ranks, tokens, byteCount);
  if (file.length !== expected) {
    throw new RangeError(`Expected a token file of ${expected} bytes, got ${file.length}.`);
  }
  const gapsAt = HEADER_BYTES + tokens * SLOT_BYTES;
  const lengthsAt = gapsAt + tokens;
  const slots = new Int32Array(slotCount(ranks));
  let slot = 0;
  for (let token = 0; token < tokens; token += 1) {
    slot += file[gapsAt + token] ?? 0;
    slots[slot] = view.getInt32(HEADER_BYTES + token * SLOT_BYTES, true);
    slot += 1;
  }
  const starts = new Int32Array(ranks + 1);
  let end = 0;
  let maxLength = 0;
  for (let rank = 0; rank < ranks; rank += 1) {
    const length = file[lengthsAt + rank] ?? 0;
    end += length;
    starts[rank + 1] = end;
    if (length > maxLength) maxLength = length;
  }
  // A table without a free slot would be searched for ever.
  if (tokens > ranks || slot > slots.length || end !== byteCount) {
    throw new RangeError('Expected a sound token file, got one whose parts do not fit together.');
  }
  // Not `slice`, which in a Buffer makes no copy and would keep all of the file.
  const bytes = new Uint8Array(file.subarray(lengthsAt + ranks));
  return { bytes, starts, slots, maxLength };
}

function fileLength(ranks: number, tokens: number, bytes: number): number {
  return HEADER_BYTES + tokens * (SLOT_BYTES + 1) + ranks + bytes;
}

function asUint8(what: string, length: number): number {
  if (length <= MAX_UINT8) return length;
  throw new RangeError(`A token file holds ${what} of at most ${MAX_UINT8}, got ${length}.`);
}
