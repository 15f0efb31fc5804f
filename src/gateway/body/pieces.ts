// Assembles a request body with a compacted list of messages from byte ranges of the old body and the texts of rewritten messages.

import type { ByteRange } from './json-scan.js';
import type { ListInBody } from './list-in-body.js';
import { writeValue } from './written-value.js';
import type { ParsedValue } from './written-value.js';

const COMMA = ','.charCodeAt(0);

/** The text of a message that an edit made from other messages. */
export interface WrittenMessage {
  /** Starts with the comma before the message. */
  readonly text: Buffer;
  /** Index after the last message from which this one was made. */
  readonly next: number;
}

/** How a list was sent. A list with the same first messages begins with the same text, because they come from the same bytes. */
export interface SentList {
  readonly messages: readonly object[];
  /** By message, its index in the original list; -1 for rewritten messages. */
  readonly places: readonly number[];
  /** By message, its end in `text`. */
  readonly ends: readonly number[];
  /** The sent body from after the opening bracket of the list. */
  readonly text: Uint8Array;
}

/** The pieces of a new body in order, with the positions of the messages in it. */
export interface Pieces extends Pick<SentList, 'places' | 'ends'> {
  readonly pieces: readonly (ByteRange | Uint8Array)[];
}

/**
 * Returns the pieces of the new body, or `undefined` if nothing has changed. Kept messages must be the same objects in the same order.
 *
 * @param messages the parsed elements of the list; objects that earlier lists contained have the same bytes as there
 * @param written texts written by earlier calls, by message; receives new ones
 * @param former how the conversation was sent before; reused, because a long list has a thousand pieces and few of them are new
 */
export function piecesOf(
  { bytes, start, end, elements }: ListInBody,
  messages: readonly object[],
  compacted: readonly object[],
  written: WeakMap<object, WrittenMessage>,
  former: SentList = NOTHING_SENT,
): Pieces | undefined {
  const known = commonLength(former.messages, compacted);
  const places = keptPlaces(messages, compacted, written, former.places.slice(0, known));
  let kept: ReadonlySet<object> | undefined;
  if (compacted.length === messages.length && places.every((place, at) => place === at))
    return undefined;
  const pieces: (ByteRange | Uint8Array)[] = [{ start: 0, end: start + 1 }];
  const ends = former.ends.slice(0, known);
  let length = ends.at(-1) ?? 0;
  if (length > 0) pieces.push(former.text.subarray(0, length));
  /** Index of the first message from which the next rewritten one may be made. */
  let next = placeBehind(known);
  for (let at = known; at < compacted.length; at += 1) {
    const message = compacted[at] as object;
    const place = places[at] ?? -1;
    const element = elements[place];
    if (element === undefined) {
      const text = textOf(message);
      addText(at > 0 ? text : text.subarray(1));
    } else if (at === 0) addRange(element.start, element.end);
    else {
      // Between elements that are adjacent in both lists, the original bytes are kept.
      const isNext = place > 0 && places[at - 1] === place - 1;
      addRange(isNext ? (elements[place - 1]?.end ?? 0) : commaBefore(element), element.end);
    }
    if (place !== -1) next = place + 1;
    ends.push(length);
  }
  addRange(end - 1, bytes.length);
  return { pieces, places, ends };

  /** The index after the messages from which the first `count` compacted ones come. */
  function placeBehind(count: number): number {
    const last = compacted[count - 1];
    if (last === undefined) return 0;
    const place = places[count - 1] ?? -1;
    return place === -1 ? (written.get(last)?.next ?? 0) : place + 1;
  }

  /** Returns the offset of an element with the comma before it, or adds a comma and returns the offset without it. */
  function commaBefore({ start: first }: ByteRange): number {
    if (bytes[first - 1] === COMMA) return first - 1;
    addText(Buffer.of(COMMA));
    return first;
  }

  function addText(text: Uint8Array): void {
    pieces.push(text);
    length += text.length;
  }

  /** Adds a range of the old body. Merges it with the last piece if they are adjacent. */
  function addRange(from: number, to: number): void {
    const last = pieces.at(-1);
    if (last !== undefined && 'end' in last && last.end === from) {
      pieces[pieces.length - 1] = { start: last.start, end: to };
    } else pieces.push({ start: from, end: to });
    length += to - from;
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

  /** Returns the possible sources of a rewritten message: the next run of related messages, else the next message of its role. */
  function sourcesOf(message: object): ParsedValue[] {
    // Messages are in order, so none of the first `known` ones can occur again from here on.
    const keptMessages = (kept ??= new Set(compacted.slice(known)));
    const isSource = (value: object | undefined): boolean =>
      value !== undefined && !keptMessages.has(value) && isRelated(message, value);
    let first = next;
    while (first < messages.length && !isSource(messages[first])) first += 1;
    let last = first;
    while (last < messages.length && isSource(messages[last])) last += 1;
    if (first === last) {
      // A wrong source is harmless: it affects only the order of keys and the spelling of unchanged values.
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

const NOTHING_SENT: SentList = { messages: [], places: [], ends: [], text: Buffer.of() };

function commonLength(a: readonly object[], b: readonly object[]): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** The length of the body that the pieces make up, in bytes. */
export function lengthOf({ pieces }: Pieces): number {
  let length = 0;
  for (const piece of pieces) length += 'end' in piece ? piece.end - piece.start : piece.length;
  return length;
}

/** Assembles a new body from pieces of the old one, in memory of at least its length. @param body @default new shared memory */
export function assemble(
  bytes: Buffer,
  pieces: Pieces,
  body: Buffer = Buffer.from(new SharedArrayBuffer(lengthOf(pieces))),
): Buffer {
  let at = 0;
  // There may be thousands of pieces: creating a view of the old body for each would take longer than copying.
  for (const piece of pieces.pieces) {
    if ('end' in piece) at += bytes.copy(body, at, piece.start, piece.end);
    else {
      body.set(piece, at);
      at += piece.length;
    }
  }
  return body.subarray(0, at);
}

/** How a list was sent, for `piecesOf` of the conversation's next request. */
export function sentIn(
  body: Buffer,
  { start }: ListInBody,
  messages: readonly object[],
  { places, ends }: Pieces,
): SentList {
  return { messages, places, ends, text: body.subarray(start + 1) };
}

/** Returns each compacted message's index in `messages`, -1 for rewritten ones. Extends `places`, those of the first messages. */
function keptPlaces(
  messages: readonly object[],
  compacted: readonly object[],
  written: WeakMap<object, unknown>,
  places: number[],
): number[] {
  let next = (places.findLast((place) => place !== -1) ?? -1) + 1;
  /** Created on first use: nearly all messages are at the expected index. */
  let all: ReadonlyMap<object, number> | undefined;
  const search = (message: object): number => {
    all ??= new Map(messages.map((given, at) => [given, at]));
    return all.get(message) ?? -1;
  };
  for (const message of compacted.slice(places.length)) {
    let place = next;
    if (messages[place] !== message) place = written.has(message) ? -1 : search(message);
    if (place !== -1) next = place + 1;
    places.push(place);
  }
  return places;
}

type Fields = Readonly<Record<string, unknown>>;

/** Whether a message may be made from another one: they share an id or a part. */
function isRelated(message: object, given: object): boolean {
  const [a, b] = [message as Fields, given as Fields];
  const names = ['call_id', 'tool_call_id', 'id'].filter((name) => a[name] !== undefined);
  if (names.length > 0) return names.every((name) => a[name] === b[name]);
  if (!isSameRole(message, given)) return false;
  const parts = new Set(partsOf(b));
  return partsOf(a).some(
    (part) => parts.has(part) || Array.from(parts).some((other) => sharesId(part, other)),
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

function sharesId(part: unknown, other: unknown): boolean {
  return idsOf(part).some((id) => idsOf(other).includes(id));
}

/** The ids of a part and of its call. */
function idsOf(part: unknown): readonly unknown[] {
  const { id, tool_use_id: answered, functionResponse } = (part ?? {}) as Fields;
  const nested = (functionResponse as Fields | undefined)?.['id'];
  return [id, answered, nested].filter((name) => typeof name === 'string');
}
