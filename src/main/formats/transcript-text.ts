// Streams the text of a transcript: opens files, decodes, and refuses binary content.
// Every failure except an abort becomes UNREADABLE_TRANSCRIPT.

import { abortable } from '../waiting/abortable.js';
import { createReadStream } from 'node:fs';
import { TextDecoder } from 'node:util';
import { asError, CtxfoldError } from '../../shared/errors.js';

/** Text of a transcript, in pieces of any size. */
export type TranscriptChunks = AsyncIterable<string | Uint8Array>;

/** How much of the start decides whether a file is text, in UTF-16 units. */
const PROBE_LENGTH = 4096;

/**
 * Yields the text of a transcript without byte order mark: UTF-8, or UTF-16. Bytes that are no UTF-8 become lone surrogates, which
 * no text has, so that they can be told from a U+FFFD that was recorded.
 *
 * @throws CtxfoldError `UNREADABLE_TRANSCRIPT` if the source fails or is not text.
 */
export async function* readText(
  source: string | TranscriptChunks,
  signal: AbortSignal | undefined,
  onRead?: (length: number) => void,
): AsyncGenerator<string> {
  const name = typeof source === 'string' && source !== '' ? source : 'The transcript';
  const chunks = typeof source === 'string' ? createReadStream(source) : source;
  const decoder = new Decoder();
  let probe: string | undefined = '';
  let length = 0;
  try {
    for await (const chunk of untilAborted(chunks as TranscriptChunks, signal)) {
      signal?.throwIfAborted();
      length += chunk.length;
      onRead?.(length);
      const text = typeof chunk === 'string' ? chunk : decoder.push(chunk);
      if (probe === undefined) {
        yield text;
        continue;
      }
      probe += text;
      if (probe.length < PROBE_LENGTH) continue;
      yield checkedText(probe, name);
      probe = undefined;
    }
    const last = (probe ?? '') + decoder.end();
    yield probe === undefined ? last : checkedText(last, name);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof CtxfoldError) throw error;
    throw unreadable(`${name} cannot be read: ${asError(error).message}`, error);
  }
}

/**
 * Decodes bytes as UTF-16 if they begin with its byte order mark, which PowerShell writes when it redirects output, or with two
 * UTF-16 characters of JSON; otherwise as UTF-8.
 */
class Decoder {
  #decode: ((bytes: Uint8Array, stream: boolean) => string) | undefined;
  #start: Uint8Array = new Uint8Array();

  /** @throws CtxfoldError if the bytes are compressed. */
  push(chunk: Uint8Array): string {
    if (this.#decode !== undefined) return this.#decode(chunk, true);
    this.#start = Buffer.concat([this.#start, chunk]);
    return this.#start.length < PROBED_BYTES ? '' : this.#open(this.#start, true);
  }

  end(): string {
    return this.#decode?.(new Uint8Array(), false) ?? this.#open(this.#start, false);
  }

  #open(start: Uint8Array, stream: boolean): string {
    const [encoding = 'utf-8'] =
      ENCODINGS.find(([, begin]) => begin.test(Buffer.from(start).toString('latin1', 0, 4))) ?? [];
    if (encoding === 'gzip' || encoding === 'zstd') {
      throw unreadable(`The transcript is compressed with ${encoding}; decompress it first.`);
    }
    const decoder = new TextDecoder(encoding);
    this.#decode =
      encoding === 'utf-8'
        ? utf8Decoder()
        : (bytes, more) => decoder.decode(bytes, { stream: more });
    return this.#decode(start, stream);
  }
}

const REPLACEMENT = '\uFFFD';
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);

/** Returns a function that decodes UTF-8 in pieces. */
function utf8Decoder(): (bytes: Uint8Array, stream: boolean) => string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let unfinished: Uint8Array = new Uint8Array();
  return (bytes, stream) => {
    const all = unfinished.length === 0 ? bytes : Buffer.concat([unfinished, bytes]);
    const end = stream ? all.length - unfinishedLength(all) : all.length;
    // Copied: the source may reuse its buffer.
    unfinished = Uint8Array.from(all.subarray(end));
    const whole = all.subarray(0, end);
    const text = decoder.decode(whole);
    return text.includes(REPLACEMENT) ? withInvalidMarked(Buffer.from(whole), decoder) : text;
  };
}

/** Decodes what is between recorded replacement characters: there, each one stands for invalid bytes. */
function withInvalidMarked(bytes: Buffer, decoder: TextDecoder): string {
  const parts: string[] = [];
  for (let start = 0; start <= bytes.length;) {
    const found = bytes.indexOf(REPLACEMENT_BYTES, start);
    const end = found === -1 ? bytes.length : found;
    parts.push(decoder.decode(bytes.subarray(start, end)).replaceAll(REPLACEMENT, '\uDC00'));
    start = end + REPLACEMENT_BYTES.length;
  }
  return parts.join(REPLACEMENT);
}

/** Returns how many bytes at the end may begin a character that the next bytes complete. */
function unfinishedLength(bytes: Uint8Array): number {
  for (let length = 1; length < 4; length += 1) {
    const byte = bytes[bytes.length - length] ?? 0;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (isContinuation) continue;
    const whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length < whole ? length : 0;
  }
  return 0;
}

const PROBED_BYTES = 4;

/** Encodings and compressions by how a file begins, its bytes read as Latin-1. */
const ENCODINGS: readonly (readonly [string, RegExp])[] = [
  ['utf-16le', /^(?:\xff\xfe|[[{]\0[^\0]\0)/],
  ['utf-16be', /^(?:\xfe\xff|\0[[{]\0[^\0])/],
  ['gzip', /^\x1f\x8b/],
  ['zstd', /^\x28\xb5\x2f\xfd/],
];

/** Yields the chunks until the signal aborts, even if the source never yields another one. */
async function* untilAborted(
  chunks: TranscriptChunks,
  signal: AbortSignal | undefined,
): AsyncGenerator<string | Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await abortable(Promise.resolve(iterator.next()), signal);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not awaited: `return` of the source may never settle.
    Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** Creates the error for a transcript that cannot be read. */
export function unreadable(message: string, cause?: unknown): CtxfoldError {
  const options = cause === undefined ? undefined : { cause };
  return new CtxfoldError(message, 'UNREADABLE_TRANSCRIPT', options);
}

/**
 * Matches a line that begins like JSON. Skips white space only within the line, because across lines it would take quadratic time.
 * Requires a second token, because in every large binary file some line begins with a bracket.
 */
const JSON_LINE = /^(?:(?![\r\n\u2028\u2029])[\s\0])*(?:\{\s*"|\[\s*[[{])/m;

function checkedText(start: string, name: string): string {
  const text = start.startsWith('\uFEFF') ? start.slice(1) : start;
  // A crash can leave NUL bytes before intact records, so NUL bytes alone do not make a file binary.
  const isJson = JSON_LINE.test(text);
  const unprintable = /[\0-\x08\x0e-\x1a\x1c-\x1f\uFFFD\p{Surrogate}]/u;
  if (isJson || !unprintable.test(text.slice(0, PROBE_LENGTH))) return text;
  const cause = new TypeError('Expected text in UTF-8 or UTF-16, got bytes that are none.');
  throw unreadable(`${name} is no text file; give a transcript in JSON or JSON Lines.`, cause);
}
