// The common prefix of two byte sequences. Compares blocks, which takes a tenth of the time of comparing bytes.

const BLOCK_BYTES = 64 * 1024;

/** Returns the number of equal bytes from these offsets on. */
export function commonPrefixLength(
  a: Uint8Array,
  aFrom: number,
  b: Uint8Array,
  bFrom: number,
): number {
  const length = Math.min(a.length - aFrom, b.length - bFrom);
  const isSame = (from: number, to: number): boolean =>
    Buffer.compare(a.subarray(aFrom + from, aFrom + to), b.subarray(bFrom + from, bFrom + to)) ===
    0;
  let from = 0;
  while (from < length && isSame(from, Math.min(length, from + BLOCK_BYTES))) from += BLOCK_BYTES;
  if (from >= length) return length;
  let to = Math.min(length, from + BLOCK_BYTES);
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (isSame(from, middle)) from = middle;
    else to = middle;
  }
  return from;
}
