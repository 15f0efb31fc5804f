// Finds where the values of a JSON text stand, in its bytes. Reads no value: what is between the brackets is for
// `JSON.parse` to judge, and a text that is none may be taken for one here.

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** From the first byte of a value to behind its last. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A member of an object; the key with its quotes. */
export interface MemberRange {
  readonly key: ByteRange;
  readonly value: ByteRange;
}

/** What is no JSON as far as it was looked at. */
export class NotJsonError extends Error {
  constructor(at: number) {
    super(`Expected JSON at byte ${at}.`);
    this.name = 'NotJsonError';
  }
}

/** Returns the index of the first byte from there on that is no white space. */
export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at += 1;
  }
}

/** Returns the index behind the value that begins there. @throws NotJsonError where it does not end */
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
  throw new NotJsonError(from);
}

/** Yields the members of the object that begins there. @throws NotJsonError */
export function* members(bytes: Buffer, from: number): Generator<MemberRange> {
  for (const { key, valueStart } of keys(bytes, from)) {
    yield { key, value: { start: valueStart, end: skipValue(bytes, valueStart) } };
  }
}

/** Returns where the value of a member begins; looks at nothing behind that. @throws NotJsonError */
export function findMember(bytes: Buffer, from: number, name: string): number | undefined {
  const wanted = Buffer.from(JSON.stringify(name));
  for (const { key, valueStart } of keys(bytes, from)) {
    const { start, end } = key;
    if (end - start === wanted.length && wanted.compare(bytes, start, end) === 0) return valueStart;
  }
  return undefined;
}

/** A value is skipped when the next key is asked for. */
function* keys(
  bytes: Buffer,
  from: number,
): Generator<{ readonly key: ByteRange; readonly valueStart: number }> {
  if (bytes[from] !== OPEN_OBJECT) throw new NotJsonError(from);
  let at = skipSpace(bytes, from + 1);
  if (bytes[at] === CLOSE_OBJECT) return;
  for (;;) {
    if (bytes[at] !== QUOTE) throw new NotJsonError(at);
    const key = { start: at, end: skipString(bytes, at) };
    at = skipSpace(bytes, key.end);
    if (bytes[at] !== COLON) throw new NotJsonError(at);
    const valueStart = skipSpace(bytes, at + 1);
    yield { key, valueStart };
    at = skipSpace(bytes, skipValue(bytes, valueStart));
    if (bytes[at] === CLOSE_OBJECT) return;
    if (bytes[at] !== COMMA) throw new NotJsonError(at);
    at = skipSpace(bytes, at + 1);
  }
}

/**
 * Adds the elements of the list that begins there to those that are known of it already, and returns the index behind
 * the list. @throws NotJsonError
 */
export function readElements(bytes: Buffer, from: number, elements: ByteRange[]): number {
  if (bytes[from] !== OPEN_LIST) throw new NotJsonError(from);
  let at = skipSpace(bytes, elements.at(-1)?.end ?? from + 1);
  if (elements.length === 0) {
    if (bytes[at] === CLOSE_LIST) return at + 1;
  } else {
    if (bytes[at] === CLOSE_LIST) return at + 1;
    if (bytes[at] !== COMMA) throw new NotJsonError(at);
    at = skipSpace(bytes, at + 1);
  }
  for (;;) {
    const end = skipValue(bytes, at);
    elements.push({ start: at, end });
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_LIST) return at + 1;
    if (bytes[at] !== COMMA) throw new NotJsonError(at);
    at = skipSpace(bytes, at + 1);
  }
}

/** Quotes are searched for by the engine's own search, as texts are long and quotes are few. */
function skipString(bytes: Buffer, from: number): number {
  for (let at = from; ;) {
    at = bytes.indexOf(QUOTE, at + 1);
    if (at === -1) throw new NotJsonError(from);
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
}

function skipScalar(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    const isEnd = byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
    if (isEnd || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) break;
  }
  if (at === from) throw new NotJsonError(from);
  return at;
}
