// Of which bytes the body of a request consists once its list of messages is another one: as much of the old body as stays,
// and what was written anew.

import type { ByteRange } from './json-scan.js';
import type { ListInBody } from './list-in-body.js';
import { writeValue } from './written-value.js';
import type { ParsedValue } from './written-value.js';

const COMMA = ','.charCodeAt(0);

/** A message that an edit has made of others, as text. */
export interface WrittenMessage {
  /** Begins with the comma that separates it from the one before. */
  readonly text: Buffer;
  /** The place behind what it was made of. */
  readonly next: number;
}

/**
 * Returns the parts of the new body in their order, or `undefined` when nothing has changed. Messages that stay are the same
 * objects, in the same order.
 *
 * @param messages of the elements of the list, each at its place
 * @param written what was written before, by message
 */
export function piecesOf(
  { bytes, start, end, elements }: ListInBody,
  messages: readonly object[],
  compacted: readonly object[],
  written: WeakMap<object, WrittenMessage>,
): (ByteRange | Uint8Array)[] | undefined {
  const places = stayingPlaces(messages, compacted, written);
  let staying: ReadonlySet<object> | undefined;
  if (compacted.length === messages.length && places.every((place, at) => place === at))
    return undefined;
  const pieces: (ByteRange | Uint8Array)[] = [{ start: 0, end: start + 1 }];
  /** The first message that what comes next may have been made of. */
  let next = 0;
  for (const [at, message] of compacted.entries()) {
    const place = places[at] ?? -1;
    const element = elements[place];
    if (element === undefined) {
      const text = textOf(message);
      pieces.push(at > 0 ? text : text.subarray(1));
    } else if (at === 0) addRange(element.start, element.end);
    else {
      // With the bytes between them, if the message before stands there too.
      const isNext = place > 0 && places[at - 1] === place - 1;
      addRange(isNext ? (elements[place - 1]?.end ?? 0) : commaBefore(element), element.end);
    }
    if (place !== -1) next = place + 1;
  }
  addRange(end - 1, bytes.length);
  return pieces;

  /** The place of the comma before an element that is not the first to be sent. */
  function commaBefore({ start: first }: ByteRange): number {
    if (bytes[first - 1] === COMMA) return first - 1;
    pieces.push(Buffer.of(COMMA));
    return first;
  }

  /** Ranges that follow each other are one. */
  function addRange(from: number, to: number): void {
    const last = pieces.at(-1);
    if (last !== undefined && 'end' in last && last.end === from) {
      pieces[pieces.length - 1] = { start: last.start, end: to };
    } else pieces.push({ start: from, end: to });
  }

  function textOf(message: object): Buffer {
    const known = written.get(message);
    if (known !== undefined) {
      next = Math.max(next, known.next);
      return known.text;
    }
    const sources = sourcesOf(message);
    const text = Buffer.concat([Buffer.of(COMMA), writeValue(message, sources)]);
    written.set(message, { text, next });
    return text;
  }

  /** What a message may have been made of: the next ones that share something with it, or the next of its role. */
  function sourcesOf(message: object): ParsedValue[] {
    const stays = (staying ??= new Set(compacted));
    const isSource = (value: object | undefined): boolean =>
      value !== undefined && !stays.has(value) && isKin(message, value);
    let first = next;
    while (first < messages.length && !isSource(messages[first])) first += 1;
    let last = first;
    while (last < messages.length && isSource(messages[last])) last += 1;
    if (first === last) {
      // Whatever is taken for its source, the message is written as it is: only spelling comes from there.
      first = messages.findIndex((value, at) => at >= next && isSameRole(message, value));
      return sourceAt(first);
    }
    next = last;
    return Array.from({ length: last - first }, (_, at) => first + at).flatMap(sourceAt);
  }

  function sourceAt(place: number): ParsedValue[] {
    const value = messages[place];
    const element = elements[place];
    if (value === undefined || element === undefined) return [];
    return [{ value, bytes: bytes.subarray(element.start, element.end) }];
  }
}

/** So many messages are searched for one by one: few are written in a turn, and nearly all stand where they are expected. */
const MAX_SEARCHES = 16;

/** For each compacted message, the place of the given one that it is, or -1. */
function stayingPlaces(
  messages: readonly object[],
  compacted: readonly object[],
  written: WeakMap<object, unknown>,
): number[] {
  let next = 0;
  let searches = 0;
  let all: ReadonlyMap<object, number> | undefined;
  return compacted.map((message) => {
    let place = next;
    if (messages[place] !== message) {
      if (written.has(message)) return -1;
      if (searches >= MAX_SEARCHES) all ??= new Map(messages.map((given, at) => [given, at]));
      place = all === undefined ? messages.indexOf(message, next) : (all.get(message) ?? -1);
      if (place === -1) searches += 1;
    }
    if (place !== -1) next = place + 1;
    return place;
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** Whether one message was made of another: they share a part, or what they are called by. */
function isKin(message: object, given: object): boolean {
  const [a, b] = [message as Fields, given as Fields];
  const names = ['call_id', 'tool_call_id', 'id'].filter((name) => a[name] !== undefined);
  if (names.length > 0) return names.every((name) => a[name] === b[name]);
  if (!isSameRole(message, given)) return false;
  const parts = new Set(partsOf(b));
  return partsOf(a).some(
    (part) => parts.has(part) || Array.from(parts).some((of) => isSameCall(part, of)),
  );
}

function isSameRole(message: object, given: object): boolean {
  return (message as Fields)['role'] === (given as Fields)['role'];
}

function partsOf(message: Fields): readonly unknown[] {
  return [message['content'], message['parts']].flatMap((list): readonly unknown[] =>
    Array.isArray(list) ? list : [],
  );
}

/** Parts are called by ids of their own, or by the call that they belong to. */
function isSameCall(part: unknown, of: unknown): boolean {
  return idsOf(part).some((id) => idsOf(of).includes(id));
}

function idsOf(part: unknown): readonly unknown[] {
  const { id, tool_use_id: answered, functionResponse } = (part ?? {}) as Fields;
  const nested = (functionResponse as Fields | undefined)?.['id'];
  return [id, answered, nested].filter((name) => typeof name === 'string');
}
