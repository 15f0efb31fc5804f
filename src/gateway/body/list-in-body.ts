// Finds the list of messages in the body of a request, and parses the other fields and the messages that are not known yet.

import { isUtf8 } from 'node:buffer';
import { isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { findMember, readElements, skipSpace } from './json-scan.js';
import type { ByteRange } from './json-scan.js';

/** A list in a body. */
export interface ListInBody {
  readonly bytes: Buffer;
  /** Start and exclusive end of the list, including its brackets. */
  readonly start: number;
  readonly end: number;
  readonly elements: readonly ByteRange[];
  /** The merged fields of the objects around the list, with an empty list in its place. Fields of inner objects win. */
  readonly fields: JsonRecord;
}

/** Size limit for the other fields, which are parsed in one go. */
const MAX_SURROUNDING_BYTES = 4 * 1024 * 1024;

/** Returns the start of the list at a path; `undefined` if there is none. @throws SyntaxError */
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
 * Reads the list that starts at `start`, after its already known first elements.
 *
 * @returns `undefined` if the body has several lists at this path, or if its other fields are too large
 * @throws SyntaxError if the body is not JSON
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
  let value: unknown = JSON.parse(text);
  let fields: JsonRecord = {};
  for (const name of path) {
    if (!isRecord(value)) return undefined;
    fields = { ...fields, ...value };
    value = value[name];
  }
  if (!Array.isArray(value) || value.length > 0) return undefined;
  return { bytes, start, end, elements, fields };
}

/**
 * Parses the messages of a list, reusing known ones.
 *
 * @returns `undefined` if one of them is not an object, or not in UTF-8
 * @throws SyntaxError if one of them is not JSON
 */
export function readMessages(
  { bytes, elements }: ListInBody,
  known: readonly object[],
): readonly object[] | undefined {
  const fresh = elements.slice(known.length);
  const [first] = fresh;
  const last = fresh.at(-1);
  if (first !== undefined && last !== undefined && !isUtf8(bytes.subarray(first.start, last.end)))
    return undefined;
  const messages = [...known];
  for (const { start, end } of fresh) {
    const message: unknown = JSON.parse(bytes.toString('utf8', start, end));
    if (!isRecord(message)) return undefined;
    messages.push(message);
  }
  return messages;
}
