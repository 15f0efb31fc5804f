// Where the list of messages stands in the body of a request, and what the body says besides. Parses what surrounds the
// list, and no message.

import { isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { findMember, readElements, skipSpace } from './json-scan.js';
import type { ByteRange } from './json-scan.js';

/** A list in a body. */
export interface ListInBody {
  readonly bytes: Buffer;
  /** From its opening bracket to behind the closing one. */
  readonly start: number;
  readonly end: number;
  /** By place in the body. */
  readonly elements: readonly ByteRange[];
  /** What the list stands in, with an empty list in its place. */
  readonly fields: JsonRecord;
}

/** What surrounds a list is parsed at once: more than that is left alone. */
const MAX_SURROUNDING_BYTES = 4 * 1024 * 1024;

/** Returns where the list begins that the path leads to; `undefined` when there is none. @throws NotJsonError */
export function findList(bytes: Buffer, path: readonly string[]): number | undefined {
  let at = skipSpace(bytes, 0);
  for (const name of path) {
    const found = findMember(bytes, at, name);
    if (found === undefined) return undefined;
    at = found;
  }
  return bytes[at] === 0x5b ? at : undefined;
}

/**
 * Reads the list that begins there, on from the elements that are known of it.
 *
 * @returns `undefined` where the body holds more than one such list, or too much besides
 * @throws NotJsonError or SyntaxError for what is no JSON
 */
export function readList(
  bytes: Buffer,
  start: number,
  path: readonly string[],
  known: readonly ByteRange[],
): ListInBody | undefined {
  const elements = [...known];
  const end = readElements(bytes, start, elements);
  if (bytes.length - (end - start) > MAX_SURROUNDING_BYTES) return undefined;
  const text = `${bytes.toString('utf8', 0, start)}[]${bytes.toString('utf8', end)}`;
  let fields: unknown = JSON.parse(text);
  for (const name of path.slice(0, -1)) fields = isRecord(fields) ? fields[name] : undefined;
  const list = isRecord(fields) ? fields[path.at(-1) ?? ''] : undefined;
  if (!isRecord(fields) || !Array.isArray(list) || list.length > 0) return undefined;
  return { bytes, start, end, elements, fields };
}
