// Assembles a request body with a compacted list of messages from byte ranges of the old body and the texts of rewritten messages.

import { originalsOf } from '../../adapters/format/originals.js';
import type { ByteRange } from './json-scan.js';
import type { ListInBody } from './list-in-body.js';
import { writeValue } from './written-value.js';
import type { ParsedValue } from './written-value.js';

const COMMA = ','.charCodeAt(0);

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
 * @param written texts of rewritten messages from earlier calls, each with the comma before it; receives new ones
 * @param former how the conversation was sent before; reused, because a long list has a thousand pieces and few of them are new
 */
export function piecesOf(
  { bytes, start, end, elements }: ListInBody,
  messages: readonly object[],
  compacted: readonly object[],
  written: WeakMap<object, Buffer>,
  former: SentList = NOTHING_SENT,
): Pieces | undefined {
  const known = commonLength(former.messages, compacted);
  const placeOf = finderIn(messages);
  const placeIfGiven = (message: object): number => (written.has(message) ? -1 : placeOf(message));
  const places = keptPlaces(messages, compacted, placeIfGiven, former.places.slice(0, known));
  if (compacted.length === messages.length && places.every((place, at) => place === at))
    return undefined;
  const pieces: (ByteRange | Uint8Array)[] = [{ start: 0, end: start + 1 }];
  const ends = former.ends.slice(0, known);
  let length = ends.at(-1) ?? 0;
  if (length > 0) pieces.push(former.text.subarray(0, length));
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
    ends.push(length);
  }
  addRange(end - 1, bytes.length);
  return { pieces, places, ends };

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
    const writtenBefore = written.get(message);
    if (writtenBefore !== undefined) return writtenBefore;
    const text = Buffer.concat([Buffer.of(COMMA), writeValue(message, sourcesOf(message))]);
    written.set(message, text);
    return text;
  }

  /** Returns the texts of the messages from which an edited one was made. */
  function sourcesOf(message: object): ParsedValue[] {
    return originalsOf(message).flatMap((value) => {
      const element = elements[placeOf(value)];
      return element === undefined
        ? []
        : { value, bytes: bytes.subarray(element.start, element.end) };
    });
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

/** Returns a function from a message to its index in the list, or -1. */
function finderIn(messages: readonly object[]): (message: object) => number {
  /** Created on first use: nearly all messages are where they are expected. */
  let all: ReadonlyMap<object, number> | undefined;
  return (message) => {
    all ??= new Map(messages.map((given, at) => [given, at]));
    return all.get(message) ?? -1;
  };
}

/** Returns each compacted message's index in `messages`, -1 for rewritten ones. Extends `places`, those of the first messages. */
function keptPlaces(
  messages: readonly object[],
  compacted: readonly object[],
  placeOf: (message: object) => number,
  places: number[],
): number[] {
  let next = (places.findLast((place) => place !== -1) ?? -1) + 1;
  for (const message of compacted.slice(places.length)) {
    const place = messages[next] === message ? next : placeOf(message);
    if (place !== -1) next = place + 1;
    places.push(place);
  }
  return places;
}
