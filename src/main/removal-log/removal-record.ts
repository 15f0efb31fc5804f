// The encoding of one record of the removal log: a mark byte that never occurs in JSON, then JSON that ends with its own checksum,
// then a line break.

import { crc32 } from 'node:zlib';
import type { IContent } from '../../shared/content.js';
import { isToolResponseBlock } from '../../shared/content.js';
import { isRecord, tryParseJson } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';

/** Why an entry is on record: a pass removed it, replaced it, or compressed it away. */
export type RemovalKind = 'removed' | 'replaced' | 'compressed';

/** A change to record. */
export interface RemovalDraft {
  readonly sessionId: string;
  readonly kind: RemovalKind;
  /** Index in the history before the pass. */
  readonly index: number;
  /** The original entry. Recorded as JSON; must not change before the append is acknowledged. */
  readonly entry: IContent;
  /** The new entry, if any. Only its checksum is recorded. */
  readonly replacement?: IContent | undefined;
}

/** A recorded change. */
export interface RemovalRecord {
  /** The offset in the file at which it was written. So it ascends through the file, also across restarts. */
  readonly seq: number;
  /** Time of writing in milliseconds since the epoch; 0 if the clock returned no valid `Date`. */
  readonly at: number;
  readonly sessionId: string;
  readonly kind: RemovalKind;
  /** Index in the history before the pass. */
  readonly index: number;
  readonly entry: IContent;
  /** `checksumOfBlocks` of the new entry, if the new entry has tool responses. */
  readonly replacementCrc?: number;
}

/** Why bytes of a removal log were not read. */
export type SkipReason =
  /** An incomplete record. */
  | 'torn'
  /** A complete record that was altered. */
  | 'checksum'
  /** Not written by this library. */
  | 'no-record'
  /** A record of another format version, including version 1. */
  | 'unknown-version'
  /** A block that was not written before a crash. */
  | 'nul-bytes'
  /** A line longer than any record. */
  | 'too-long'
  /** An identical copy of an earlier record. */
  | 'copy';

export type DecodedRemoval =
  | { readonly record: RemovalRecord; readonly crc: number }
  | { readonly record?: never; readonly reason: SkipReason };

/** Longer lines are neither written nor read. An entry of 8 Mi characters fits, even if all of them are escaped. */
export const MAX_RECORD_BYTES: number = 64 * 1024 * 1024;

/**
 * The first byte of every record, as in a JSON text sequence (RFC 7464). JSON escapes control
 * characters, so a payload contains neither this byte nor a line break.
 */
export const RECORD_MARK = 0x1e;

const VERSION = 2;
/** Separates the checksummed bytes of a record from the checksum. */
const CHECKSUM_KEY = ',"crc":';
/** Start of a record of version 1, which had no mark. */
const UNMARKED_START = '{"v":1,';
const CHECKSUM_END = /^(\d{1,10})\}/;
const CHECKSUM_END_BYTES = 11;

/**
 * Encodes a record as one line, including mark and line break: `{"v":2,"seq":…,…,"crc":…}`. The
 * checksum is the CRC-32 of all UTF-8 bytes before `,"crc":`.
 *
 * @throws TypeError if JSON cannot represent the entry, RangeError if it is nested too deeply for JSON or longer than
 * `MAX_RECORD_BYTES`.
 */
export function encodeRemoval(
  draft: RemovalDraft,
  seq: number,
  at: number,
): { readonly line: string; readonly bytes: number } {
  const { sessionId, kind, index, entry, replacement } = draft;
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

/** Decodes one record, which starts with its mark and has no line break, or returns why the bytes are not a record. */
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

/** Reads the checksum behind the key at `keyAt`, if the record ends with it. */
function readChecksum(bytes: Buffer, keyAt: number): number | undefined {
  const from = keyAt + CHECKSUM_KEY.length;
  const digits = CHECKSUM_END.exec(bytes.toString('latin1', from, from + CHECKSUM_END_BYTES))?.[1];
  return digits !== undefined && from + digits.length + 1 === bytes.length
    ? Number(digits)
    : undefined;
}

/** Returns the CRC-32 of an entry's blocks as JSON. Recording and reading an entry does not change it. */
export function checksumOfBlocks(entry: IContent): number {
  return crc32(JSON.stringify(entry.blocks));
}

function startsWith(bytes: Buffer, text: string): boolean {
  return bytes.toString('latin1', 0, text.length) === text;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A record without a valid time is still read, with 0 as its time. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime());
}

/** Checks the fields that readers rely on: the checksum detects damage but not forgery. */
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
