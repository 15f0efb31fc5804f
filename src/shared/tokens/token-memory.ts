// Memory that threads share, in which the first thread that has decoded the tokens leaves them for all others. Decodes nothing.
//
//   4 × int32: 1 once the rest is written · number of slots · number of bytes · maximum length
//   the slots and the bytes of `TokenArrays`

import type { TokenArrays } from './token-table.js';

const HEADER_WORDS = 4;
const IS_WRITTEN = 1;

/** The tokens of o200k take 3.7 million bytes. Memory that nobody writes takes none. */
const MEMORY_BYTES = 2 ** 22;

export function createTokenMemory(bytes: number = MEMORY_BYTES): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes);
}

/** The tokens that a thread has left, in place; `undefined` if none has done so yet. */
export function readTokens(memory: SharedArrayBuffer): TokenArrays | undefined {
  const header = new Int32Array(memory, 0, HEADER_WORDS);
  if (Atomics.load(header, 0) !== IS_WRITTEN) return undefined;
  const [, slots = 0, bytes = 0, maxLength = 0] = header;
  return { ...arraysIn(memory, slots, bytes), maxLength };
}

/**
 * Leaves tokens for others, and returns them in place; returns them as they are where they do not fit. Threads that do so at once write
 * the same.
 */
export function leaveTokens(memory: SharedArrayBuffer, tokens: TokenArrays): TokenArrays {
  const { slots, bytes, maxLength } = tokens;
  const header = new Int32Array(memory, 0, HEADER_WORDS);
  if (header.byteLength + slots.byteLength + bytes.byteLength > memory.byteLength) return tokens;
  const left = arraysIn(memory, slots.length, bytes.length);
  left.slots.set(slots);
  left.bytes.set(bytes);
  header.set([slots.length, bytes.length, maxLength], 1);
  Atomics.store(header, 0, IS_WRITTEN);
  return { ...left, maxLength };
}

function arraysIn(
  memory: SharedArrayBuffer,
  slots: number,
  bytes: number,
): Pick<TokenArrays, 'slots' | 'bytes'> {
  const start = HEADER_WORDS * Int32Array.BYTES_PER_ELEMENT;
  const ofSlots = new Int32Array(memory, start, slots);
  return { slots: ofSlots, bytes: new Uint8Array(memory, start + ofSlots.byteLength, bytes) };
}
