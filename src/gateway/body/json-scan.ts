// Finds the byte ranges of values in a JSON text. Parses no values, and does not detect all invalid JSON; `JSON.parse` validates it
// later.

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The bytes of a value; `end` is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A member of an object; the range of the key includes its quotes. */
export interface MemberRange {
  readonly key: ByteRange;
  readonly value: ByteRange;
}

/** Returns the index of the first byte at or after `from` that is not white space. */
export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Returns the index after the value that starts at `from`. @throws SyntaxError if it does not end */
export function skipValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return skipString(bytes, from);
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) return skipScalar(bytes, from);
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = skipString(bytes, at) - 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  throw notJson(from);
}

/** Yields the members of the object that starts at `from`. @throws SyntaxError */
export function* members(bytes: Buffer, from: number): Generator<MemberRange> {
  for (const { key, valueStart } of keys(bytes, from)) {
    yield { key, value: { start: valueStart, end: skipValue(bytes, valueStart) } };
  }
}

/** Returns the start of a member's value, or `undefined`. Scans nothing after that start. @throws SyntaxError */
export function findMember(bytes: Buffer, from: number, name: string): number | undefined {
  const wanted = Buffer.from(JSON.stringify(name));
  for (const { key, valueStart } of keys(bytes, from)) {
    const { start, end } = key;
    if (end - start === wanted.length && wanted.compare(bytes, start, end) === 0) return valueStart;
  }
  return undefined;
}

/** Yields keys, and where their values start. Scans a value only when the next key is requested. */
function* keys(
  bytes: Buffer,
  from: number,
): Generator<{ readonly key: ByteRange; readonly valueStart: number }> {
  if (bytes[from] !== OPEN_OBJECT) throw notJson(from);
  let at = skipSpace(bytes, from + 1);
  if (bytes[at] === CLOSE_OBJECT) return;
  for (;;) {
    if (bytes[at] !== QUOTE) throw notJson(at);
    const key = { start: at, end: skipString(bytes, at) };
    at = skipSpace(bytes, key.end);
    if (bytes[at] !== COLON) throw notJson(at);
    const valueStart = skipSpace(bytes, at + 1);
    yield { key, valueStart };
    at = skipSpace(bytes, skipValue(bytes, valueStart));
    if (bytes[at] === CLOSE_OBJECT) return;
    if (bytes[at] !== COMMA) throw notJson(at);
    at = skipSpace(bytes, at + 1);
  }
}

/**
 * Adds the elements of the list that starts at `from` to `elements`, which holds those that are already known. Returns the index
 * after the list. @throws SyntaxError
 */
export function readElements(bytes: Buffer, from: number, elements: ByteRange[]): number {
  if (bytes[from] !== OPEN_LIST) throw notJson(from);
  let at = skipSpace(bytes, elements.at(-1)?.end ?? from + 1);
  if (bytes[at] === CLOSE_LIST) return at + 1;
  if (elements.length > 0) {
    if (bytes[at] !== COMMA) throw notJson(at);
    at = skipSpace(bytes, at + 1);
  }
  for (;;) {
    const end = skipValue(bytes, at);
    elements.push({ start: at, end });
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_LIST) return at + 1;
    if (bytes[at] !== COMMA) throw notJson(at);
    at = skipSpace(bytes, at + 1);
  }
}

/** Returns the index after a string. Uses `indexOf`, which is fast because strings are long and contain few quotes. */
function skipString(bytes: Buffer, from: number): number {
  for (let at = from; ;) {
    at = bytes.indexOf(QUOTE, at + 1);
    if (at === -1) throw notJson(from);
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
}

/** The error for a text of which the scanned part is not JSON, as `JSON.parse` throws it. */
function notJson(at: number): SyntaxError {
  return new SyntaxError(`Expected JSON at byte ${at}.`);
}

function skipScalar(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    const isEnd = byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
    if (isEnd || isSpace(byte)) break;
  }
  if (at === from) throw notJson(from);
  return at;
}

// Comparing blocks takes a tenth of the time of comparing single bytes.
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
