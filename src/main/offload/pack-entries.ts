// Serializes the parts of entries that a worker needs into reusable byte buffers, which is cheaper than cloning object graphs.
// `shared/packed-entries.ts` says which parts these are.

import type { ContentBlock, IContent } from '../../shared/content.js';
import {
  BLOCK_TYPES,
  ENTRY_BIT,
  JSON_SHIFT,
  POSTED_FIELDS,
  SPEAKERS,
} from '../../shared/packed-entries.js';
import type { PackedAs, PackedEntries, PackedField } from '../../shared/packed-entries.js';

/** Bytes of a buffer: fits a full batch of typical entries, about 2 kB each. */
const BUFFER_BYTES = 2 ** 20;
/**
 * Maximum number of free buffers to keep. Further ones are left to the garbage collector, which collects them late, because it does
 * not account for shared memory.
 */
export const MAX_FREE_BUFFERS = 8;
/** Maximum UTF-8 bytes per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
const FIRST_NUMBERS = 4_096;
const MAX_INTEGER = 0x7fffffff;
const SHORT_TEXT = 32;
const MAX_ASCII = 0x7f;

const freeBuffers: Uint8Array[] = [];
const encoder = new TextEncoder();
let bytes: Uint8Array = new Uint8Array(0);
let used = 0;
let numbers = new Int32Array(FIRST_NUMBERS);
let count = 0;
let blockCount = 0;

/**
 * Packs what is posted of entries. Returns `undefined` if one contains something that the format cannot express: a lone surrogate, or
 * a number beyond 32 bits.
 */
export function packEntries(contents: readonly IContent[]): PackedEntries | undefined {
  bytes = freeBuffers.pop() ?? newBuffer(BUFFER_BYTES);
  used = 0;
  count = 0;
  blockCount = 0;
  const isPacked = packAll(contents);
  const written = bytes;
  bytes = NO_BYTES;
  if (!isPacked) {
    keep(written);
    return undefined;
  }
  return {
    entries: contents.length,
    blocks: blockCount,
    bytes: isShared(written) ? written.subarray(0, used) : written.slice(0, used),
    numbers: numbers.slice(0, count),
  };
}

/** An entry that the host mutated after adding it may throw here. Then it is cloned instead, which fails where failures are handled. */
function packAll(contents: readonly IContent[]): boolean {
  try {
    return contents.every(packEntry);
  } catch {
    return false;
  }
}

/** Returns a buffer to the pool of free ones once its reader is done with it. */
export function releasePacked({ bytes: view }: PackedEntries): void {
  if (isShared(view)) keep(new Uint8Array(view.buffer));
}

const NO_BYTES: Uint8Array = new Uint8Array(0);

function keep(buffer: Uint8Array): void {
  if (freeBuffers.length < MAX_FREE_BUFFERS && buffer.length === BUFFER_BYTES)
    freeBuffers.push(buffer);
}

/** Allocates shared memory or, where there is none, ordinary memory, which is copied with each message. */
function newBuffer(length: number): Uint8Array {
  return typeof SharedArrayBuffer === 'undefined'
    ? new Uint8Array(length)
    : new Uint8Array(new SharedArrayBuffer(length));
}

function isShared({ buffer }: Uint8Array): boolean {
  return typeof SharedArrayBuffer !== 'undefined' && buffer instanceof SharedArrayBuffer;
}

function packEntry({ speaker, blocks, metadata }: IContent): boolean {
  const summary = metadata?.isSummary === true ? ENTRY_BIT.summary : 0;
  const synthetic = metadata?.synthetic === true ? ENTRY_BIT.synthetic : 0;
  push(SPEAKERS.indexOf(speaker) | summary | synthetic);
  push(blocks.length);
  blockCount += blocks.length;
  return blocks.every(packBlock);
}

function packBlock(block: ContentBlock): boolean {
  const fields = POSTED_FIELDS[block.type];
  const given = block as unknown as Readonly<Record<string, unknown>>;
  push(BLOCK_TYPES.indexOf(block.type));
  const at = count;
  push(0);
  let flags = 0;
  for (let place = 0; place < fields.length; place += 1) {
    const [field, as] = fields[place] as PackedField;
    const value = given[field];
    const isJson = as === 'payload' && typeof value !== 'string';
    const packed = isJson ? (JSON.stringify(value) as string | undefined) : value;
    // JSON omits `undefined`.
    if (packed === undefined) continue;
    flags |= (isJson ? 1 | (1 << JSON_SHIFT) : 1) << place;
    if (!pushValue(packed, as)) return false;
  }
  numbers[at] = flags;
  return true;
}

/** Pushes a field; returns `false` for what the format cannot express. */
function pushValue(value: unknown, as: PackedAs): boolean {
  switch (as) {
    case 'mark':
      return true;
    case 'flag':
      push(value === true ? 1 : 0);
      return true;
    case 'number':
      push(value as number);
      return (value as number) <= MAX_INTEGER;
    default:
      return pushText(value as string);
  }
}

function push(number: number): void {
  if (count === numbers.length) {
    const grown = new Int32Array(2 * count);
    grown.set(numbers);
    numbers = grown;
  }
  numbers[count++] = number;
}

function pushText(text: string): boolean {
  const { length } = text;
  if (length <= SHORT_TEXT && tryWriteAscii(text)) return true;
  // UTF-8 cannot represent a lone surrogate.
  if (!text.isWellFormed()) return false;
  if (used + length > bytes.length) grow(length);
  let encoded = encoder.encodeInto(text, bytes.subarray(used));
  if (encoded.read < length) {
    grow(length);
    encoded = encoder.encodeInto(text, bytes.subarray(used));
  }
  push(encoded.written);
  used += encoded.written;
  return true;
}

/**
 * Writes a short ASCII text, such as most ids and names, faster than the encoder; returns `false` without effect for others.
 */
function tryWriteAscii(text: string): boolean {
  const { length } = text;
  if (used + length > bytes.length) return false;
  for (let at = 0; at < length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > MAX_ASCII) return false;
    bytes[used + at] = unit;
  }
  push(length);
  used += length;
  return true;
}

/** Makes room for a text of any encoding length. */
function grow(length: number): void {
  const most = used + length * MAX_BYTES_PER_UNIT;
  const grown = newBuffer(Math.max(2 * bytes.length, most));
  grown.set(bytes.subarray(0, used));
  keep(bytes);
  bytes = grown;
}
