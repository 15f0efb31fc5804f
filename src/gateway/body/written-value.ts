// Writes a value that an edit made of a parsed one: what it left alone keeps the bytes that it came in, with the order of its
// keys and the digits of its numbers.

import { isRecord } from '../../shared/json.js';
import { members, readElements, skipSpace } from './json-scan.js';
import type { ByteRange, MemberRange } from './json-scan.js';

/** A value that was parsed, and its text. */
export interface ParsedValue {
  readonly value: unknown;
  readonly bytes: Buffer;
}

type Ranges = ReadonlyMap<object, Buffer>;

/**
 * Returns the text of a value. What it shares with one of the sources stands in it as it stood there.
 *
 * @param sources what the value may have been made of; the first one is what it is a version of
 */
export function writeValue(value: unknown, sources: readonly ParsedValue[]): Buffer {
  const [source] = sources;
  const ranges = new Map<object, Buffer>();
  for (const { value: from, bytes } of sources) note(from, bytes, 0, ranges);
  return Buffer.from(write(value, source, ranges));
}

/** Notes the texts of the objects and lists in a value, outer ones first. */
function note(value: unknown, bytes: Buffer, at: number, ranges: Map<object, Buffer>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const { value: part, range } of partsOf(value, bytes, skipSpace(bytes, at))) {
    if (typeof part !== 'object' || part === null) continue;
    ranges.set(part, bytes.subarray(range.start, range.end));
    note(part, bytes, range.start, ranges);
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

/** Where a key stands twice, the last one counts. */
function membersByName(bytes: Buffer, at: number): ReadonlyMap<string, MemberRange> {
  const byName = new Map<string, MemberRange>();
  for (const member of members(bytes, at)) {
    const { start, end } = member.key;
    byName.set(JSON.parse(bytes.toString('utf8', start, end)) as string, member);
  }
  return byName;
}

function write(value: unknown, source: ParsedValue | undefined, ranges: Ranges): string {
  if (typeof value === 'object' && value !== null) {
    const known = ranges.get(value);
    if (known !== undefined) return known.toString();
    if (Array.isArray(value)) return writeList(value as readonly unknown[], source, ranges);
    return writeObject(value, source, ranges);
  }
  if (source !== undefined && Object.is(source.value, value)) return source.bytes.toString();
  return JSON.stringify(value);
}

/** Elements that are no source's own are versions of those of the source that are gone, in their order. */
function writeList(
  list: readonly unknown[],
  source: ParsedValue | undefined,
  ranges: Ranges,
): string {
  const stays = new Set(list.filter((element) => ranges.has(element as object)));
  const parts =
    source !== undefined && Array.isArray(source.value)
      ? partsOf(source.value, source.bytes, skipSpace(source.bytes, 0))
      : [];
  const former = parts.filter((part) => !stays.has(part.value));
  let next = 0;
  const texts = list.map((element) => {
    if (stays.has(element)) return write(element, undefined, ranges);
    const found = former.findIndex((part, at) => at >= next && isVersionOf(element, part.value));
    if (found === -1) return write(element, undefined, ranges);
    next = found + 1;
    return write(element, sourceOf(former[found], source), ranges);
  });
  return `[${texts.join(',')}]`;
}

/** A version of an object has the same text in what names it. */
function isVersionOf(value: unknown, former: unknown): boolean {
  if (!isRecord(value) || !isRecord(former)) return Object.is(value, former);
  return ['type', 'id', 'tool_use_id', 'call_id', 'tool_call_id'].every(
    (name) => value[name] === former[name],
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

function writeObject(value: object, source: ParsedValue | undefined, ranges: Ranges): string {
  if (source === undefined || !isRecord(source.value)) return JSON.stringify(value);
  const { bytes } = source;
  const left = new Map(Object.entries(value).filter(([, member]) => member !== undefined));
  const texts: string[] = [];
  for (const [name, { key, value: range }] of membersByName(bytes, skipSpace(bytes, 0))) {
    if (!left.has(name)) continue;
    const keyText = bytes.toString('utf8', key.start, key.end);
    const former = { value: source.value[name], bytes: bytes.subarray(range.start, range.end) };
    texts.push(`${keyText}:${write(left.get(name), former, ranges)}`);
    left.delete(name);
  }
  for (const [name, member] of left) {
    texts.push(`${JSON.stringify(name)}:${write(member, undefined, ranges)}`);
  }
  return `{${texts.join(',')}}`;
}
