// The form of one record of the removal log: a mark that JSON never holds, JSON that ends with a checksum
// of itself, a line break. Knows no files.

import { crc32 } from 'node:zlib';
import type { IContent } from '../../shared/content.js';
import { isToolResponseBlock } from '../../shared/content.js';
import { isRecord, tryParseJson } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';

/** Why an entry is on record: a pass removed it, put another in its place, or compressed it away. */
export type RemovalKind = 'removed' | 'replaced' | 'compressed';

/** What is to be recorded. */
export interface RemovalDraft {
  readonly sessionId: string;
  readonly kind: RemovalKind;
  /** Index in the history before the pass. */
  readonly index: number;
  /** What stood there. Recorded as JSON has it; must not be changed before the append is acknowledged. */
  readonly entry: IContent;
  /** What takes its place, if anything does. Only its checksum is recorded. */
  readonly replacement?: IContent | undefined;
}

/** What was recorded. */
export interface RemovalRecord {
  /** Ascends through the file, over restarts too, and is never above the record's offset; numbers of failed writes are missing. */
  readonly seq: number;
  /** When it was written, in milliseconds since the epoch; 0 when the clock gave no time that a `Date` can hold. */
  readonly at: number;
  readonly sessionId: string;
  readonly kind: RemovalKind;
  /** Index in the history before the pass. */
  readonly index: number;
  readonly entry: IContent;
  /** `checksumOfBlocks` of what took its place, when that holds tool responses. */
  readonly replacementCrc?: number;
}

/** Why bytes of a removal log were not read. */
export type SkipReason =
  /** A record that was begun and not finished. */
  | 'torn'
  /** A finished record that was altered. */
  | 'checksum'
  /** Nothing that this library writes. */
  | 'no-record'
  /** A record of another version of this library, also of its first one. */
  | 'unknown-version'
  /** A block that a crash left unwritten. */
  | 'nul-bytes'
  /** A line longer than any record. */
  | 'too-long'
  /** A record that was read before, byte for byte. */
  | 'copy';

export type DecodedRemoval =
  | { readonly record: RemovalRecord; readonly crc: number }
  | { readonly record?: never; readonly reason: SkipReason };

/** Bytes of a line beyond which it is neither written nor read: an entry of 8 Mi characters, all escaped, fits. */
export const MAX_RECORD_BYTES: number = 64 * 1024 * 1024;

/**
 * The byte that every record begins with, as in a JSON text sequence (RFC 7464). JSON escapes control
 * characters, so no payload holds it, nor a line break.
 */
export const RECORD_MARK = 0x1e;

const VERSION = 2;
/** What stands between the checksummed bytes of a record and their checksum. */
const CHECKSUM_KEY = ',"crc":';
/** Version 1 had no mark: a record inside a damaged one could not be told from one of its own. */
const UNMARKED_START = '{"v":1,';
const CHECKSUM_END = /^(\d{1,10})\}/;
const CHECKSUM_END_BYTES = 11;

/**
 * Writes a record as one line, mark and line break included: `{"v":2,"seq":…,…,"crc":…}`. The checksum is
 * the CRC-32 of all UTF-8 bytes before `,"crc":`.
 *
 * @throws TypeError when JSON cannot hold the entry or the session has no string for an id, RangeError when it is nested too deeply for it or
 * longer than `MAX_RECORD_BYTES`.
 */
export function encodeRemoval(
  draft: RemovalDraft,
  seq: number,
  at: number,
): { readonly line: string; readonly bytes: number } {
  const { sessionId, kind, index, entry, replacement } = draft;
  // It would be written, and never read.
  if (typeof sessionId !== 'string') {
    throw new TypeError(`Expected the id of a session to be a string, got ${typeof sessionId}.`);
  }
  const replacementCrc =
    replacement?.blocks.some(isToolResponseBlock) === true
      ? checksumOfBlocks(replacement)
      : undefined;
  const json = JSON.stringify({
    v: VERSION,
    seq,
    at,
    sessionId,
    kind,
    index,
    entry,
    replacementCrc,
  });
  const summed = `${String.fromCharCode(RECORD_MARK)}${json.slice(0, -1)}`;
  const line = `${summed}${CHECKSUM_KEY}${crc32(summed)}}\n`;
  const bytes = Buffer.byteLength(line);
  if (bytes > MAX_RECORD_BYTES) {
    throw new RangeError(`Expected a record of at most ${MAX_RECORD_BYTES} bytes, got ${bytes}.`);
  }
  return { line, bytes };
}

/** Reads one record, or tells why the bytes are none. Takes them from the mark on, without line break. */
export function decodeRemoval(bytes: Buffer): DecodedRemoval {
  if (bytes[0] !== RECORD_MARK) {
    return { reason: startsWith(bytes, UNMARKED_START) ? 'unknown-version' : 'no-record' };
  }
  const summedBytes = bytes.lastIndexOf(CHECKSUM_KEY);
  const crc = summedBytes === -1 ? undefined : readChecksum(bytes, summedBytes);
  if (crc === undefined) return { reason: 'torn' };
  if (crc32(bytes.subarray(0, summedBytes)) !== crc) return { reason: 'checksum' };
  const value = tryParseJson(bytes.toString('utf8', 1));
  if (!isRecord(value)) return { reason: 'no-record' };
  if (value['v'] !== VERSION) {
    return { reason: typeof value['v'] === 'number' ? 'unknown-version' : 'no-record' };
  }
  const record = asRemoval(value);
  return record === undefined ? { reason: 'no-record' } : { record, crc };
}

/** Reads the checksum behind the key at `keyAt`, when the record ends with it. */
function readChecksum(bytes: Buffer, keyAt: number): number | undefined {
  const from = keyAt + CHECKSUM_KEY.length;
  const digits = CHECKSUM_END.exec(bytes.toString('latin1', from, from + CHECKSUM_END_BYTES))?.[1];
  return digits !== undefined && from + digits.length + 1 === bytes.length
    ? Number(digits)
    : undefined;
}

/** The CRC-32 of an entry's blocks as JSON. The same before an entry is recorded and after it was read. */
export function checksumOfBlocks(entry: IContent): number {
  return crc32(JSON.stringify(entry.blocks));
}

function startsWith(bytes: Buffer, text: string): boolean {
  return bytes.toString('latin1', 0, text.length) === text;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** An original is not lost for a clock that was wrong when it was recorded. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime());
}

/** The checksum tells damage, not intent: the shape is checked as well, as far as readers rely on it. */
function asRemoval(value: JsonRecord): RemovalRecord | undefined {
  const { seq, at, sessionId, kind, index, entry, replacementCrc } = value;
  if (!isCount(seq) || typeof sessionId !== 'string') return undefined;
  if (kind !== 'removed' && kind !== 'replaced' && kind !== 'compressed') return undefined;
  if (!isCount(index) || !isEntry(entry)) return undefined;
  const record = { seq, at: isTime(at) ? at : 0, sessionId, kind, index, entry } as const;
  if (replacementCrc === undefined) return record;
  return isCount(replacementCrc) ? { ...record, replacementCrc } : undefined;
}

function isEntry(value: unknown): value is IContent {
  if (!isRecord(value)) return false;
  const { speaker, blocks } = value;
  if (speaker !== 'human' && speaker !== 'ai' && speaker !== 'tool') return false;
  return Array.isArray(blocks) && blocks.every(isBlock);
}

function isBlock(value: unknown): boolean {
  if (!isRecord(value)) return false;
  switch (value['type']) {
    case 'tool_call':
      return typeof value['id'] === 'string' && typeof value['name'] === 'string';
    case 'tool_response':
      return typeof value['callId'] === 'string' && typeof value['toolName'] === 'string';
    default:
      return typeof value['type'] === 'string';
  }
}
