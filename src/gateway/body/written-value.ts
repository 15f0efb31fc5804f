// Serializes an edited value. Unchanged parts keep their original bytes, and so the order of keys and the spelling of numbers.

import { isRecord } from '../../shared/json.js';
import { members, readElements, skipSpace } from './json-scan.js';
import type { ByteRange, MemberRange } from './json-scan.js';

/** A parsed value, and the JSON text that it was parsed from. */
export interface ParsedValue {
  readonly value: unknown;
  readonly bytes: Buffer;
}

type Texts = ReadonlyMap<object, Buffer>;

/**
 * Returns the text of a value. Objects and lists that the value shares with a source keep their text.
 *
 * @param sources values from which it may be made; the first one is its earlier version
 */
export function writeValue(value: unknown, sources: readonly ParsedValue[]): Buffer {
  const [source] = sources;
  const texts = new Map<object, Buffer>();
  for (const { value: from, bytes } of sources) indexTexts(from, bytes, 0, texts);
  return Buffer.from(write(value, source, texts));
}

/** Indexes the texts of all objects and lists in a value. */
function indexTexts(value: unknown, bytes: Buffer, at: number, texts: Map<object, Buffer>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const { value: part, range } of partsOf(value, bytes, skipSpace(bytes, at))) {
    if (typeof part !== 'object' || part === null) continue;
    texts.set(part, bytes.subarray(range.start, range.end));
    indexTexts(part, bytes, range.start, texts);
  }
}

interface Part {
  readonly value: unknown;
  readonly range: ByteRange;
}

function partsOf(value: object, bytes: Buffer, at: number): Part[] {
  if (Array.isArray(value)) {
    const elements: ByteRange[] = [];
    readElements(bytes, at, elements);
    return elements.map((range, index) => ({ value: value[index] as unknown, range }));
  }
  return Array.from(membersByName(bytes, at), ([name, { value: range }]) => ({
    value: (value as Readonly<Record<string, unknown>>)[name],
    range,
  }));
}

/** Of duplicate keys, the last one wins, as in `JSON.parse`. */
function membersByName(bytes: Buffer, at: number): ReadonlyMap<string, MemberRange> {
  const byName = new Map<string, MemberRange>();
  for (const member of members(bytes, at)) {
    const { start, end } = member.key;
    byName.set(JSON.parse(bytes.toString('utf8', start, end)) as string, member);
  }
  return byName;
}

function write(value: unknown, source: ParsedValue | undefined, texts: Texts): string {
  if (typeof value === 'object' && value !== null) {
    const known = texts.get(value);
    if (known !== undefined) return known.toString();
    if (Array.isArray(value)) return writeList(value as readonly unknown[], source, texts);
    return writeObject(value, source, texts);
  }
  if (source !== undefined && Object.is(source.value, value)) return source.bytes.toString();
  return JSON.stringify(value);
}

/** Writes a list. A new element is matched, in order, with a removed element of the source that it may be a version of. */
function writeList(
  list: readonly unknown[],
  source: ParsedValue | undefined,
  texts: Texts,
): string {
  const kept = new Set(list.filter((element) => texts.has(element as object)));
  const parts =
    source !== undefined && Array.isArray(source.value)
      ? partsOf(source.value, source.bytes, skipSpace(source.bytes, 0))
      : [];
  const removed = parts.filter((part) => !kept.has(part.value));
  let next = 0;
  const written = list.map((element) => {
    if (kept.has(element)) return write(element, undefined, texts);
    const found = removed.findIndex((part, at) => at >= next && isVersionOf(element, part.value));
    if (found === -1) return write(element, undefined, texts);
    next = found + 1;
    return write(element, sourceOf(removed[found], source), texts);
  });
  return `[${written.join(',')}]`;
}

/** Whether a value may be a version of an earlier one: versions of an object have the same type and ids. */
function isVersionOf(value: unknown, earlier: unknown): boolean {
  if (!isRecord(value) || !isRecord(earlier)) return Object.is(value, earlier);
  return ['type', 'id', 'tool_use_id', 'call_id', 'tool_call_id'].every(
    (name) => value[name] === earlier[name],
  );
}

function sourceOf(
  part: Part | undefined,
  source: ParsedValue | undefined,
): ParsedValue | undefined {
  if (part === undefined || source === undefined) return undefined;
  const { start, end } = part.range;
  return { value: part.value, bytes: source.bytes.subarray(start, end) };
}

function writeObject(value: object, source: ParsedValue | undefined, texts: Texts): string {
  if (source === undefined || !isRecord(source.value)) return JSON.stringify(value);
  const { bytes } = source;
  const remaining = new Map(Object.entries(value).filter(([, member]) => member !== undefined));
  const written: string[] = [];
  for (const [name, { key, value: range }] of membersByName(bytes, skipSpace(bytes, 0))) {
    if (!remaining.has(name)) continue;
    const keyText = bytes.toString('utf8', key.start, key.end);
    const earlier = { value: source.value[name], bytes: bytes.subarray(range.start, range.end) };
    written.push(`${keyText}:${write(remaining.get(name), earlier, texts)}`);
    remaining.delete(name);
  }
  for (const [name, member] of remaining) {
    written.push(`${JSON.stringify(name)}:${write(member, undefined, texts)}`);
  }
  return `{${written.join(',')}}`;
}
