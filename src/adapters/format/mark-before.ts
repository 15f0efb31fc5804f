// One more cache mark in a request whose edit lands deep in the history. Anthropic reads up to an entry that an earlier request wrote
// at one of its marks, and looks for it a few blocks in front of each mark of this request. Agents mark the system text and the last
// messages, so after an edit further back nothing between the two would be read.

import { asRecord, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { MARKS } from './cache-marks.js';
import { isPlainObject } from './plain-data.js';

/** A request with more marks is refused. */
const MAX_MARKS = 4;

/**
 * A mark so many blocks behind finds what is in front of the edit. The provider looks back 20 positions, of which some are left
 * for blocks in front of the edit that no request ended with.
 */
const NEAR_BLOCKS = 16;

/** The last message in front of an edit may have reasoning only. Further back, a mark has less to read. */
const SEARCHED_MESSAGES = 4;

/** Depth at which marks are counted. Those of blocks in a document in the result of a tool are ten deep. */
const MAX_DEPTH = 12;

/** Where a format of messages has marks. */
export interface MarkFormat {
  /** Blocks of a message; a text in place of a list is one block. */
  readonly blocksOf: (message: JsonRecord) => readonly unknown[];
  /** The marks of a block, and of blocks in it. */
  readonly marksOf: (block: JsonRecord) => readonly JsonRecord[];
  /** Whether the provider takes a mark on a block. */
  readonly canHaveMark: (block: JsonRecord, message: JsonRecord) => boolean;
  readonly withMark: (block: JsonRecord, mark: JsonRecord) => JsonRecord;
}

/** A request, as far as it may have marks. */
export interface MarkedRequest<Message> {
  readonly messages: readonly Message[];
  /** The mark of the request itself, which the provider puts on the last block. */
  readonly automatic: JsonRecord | undefined;
  /** All that may have marks but the messages. */
  readonly besides: unknown;
}

interface Place {
  readonly message: number;
  readonly block: number;
}

/**
 * Returns the messages with a cache mark in front of an edit. Copies the message that it marks. Returns the same list if a mark would be
 * one too many or of no use: without marks behind the place, nothing was cached there.
 *
 * @param index of the first message that the edit has changed
 */
export function withMarkBefore<Message extends object>(
  format: MarkFormat,
  request: MarkedRequest<Message>,
  index: number,
): readonly Message[] {
  const { messages, besides } = request;
  const place = findPlace(format, messages, index);
  if (place === undefined) return messages;
  const mark = markBehind(format, request, place);
  if (mark === undefined || countMarks([besides, messages]) >= MAX_MARKS) return messages;
  const message = messages[place.message] as Message & JsonRecord;
  const blocks = [...format.blocksOf(message)];
  blocks[place.block] = format.withMark(asRecord(blocks[place.block]) ?? {}, mark);
  const marked = [...messages];
  marked[place.message] = { ...message, content: blocks };
  return marked;
}

/** Finds the last block in front of a message that can have a mark. */
function findPlace(
  { blocksOf, canHaveMark }: MarkFormat,
  messages: readonly object[],
  index: number,
): Place | undefined {
  for (let at = index - 1; at >= Math.max(0, index - SEARCHED_MESSAGES); at -= 1) {
    const message = messages[at];
    if (!isPlain(message)) continue;
    const block = blocksOf(message).findLastIndex(
      (each) => isPlain(each) && canHaveMark(each, message),
    );
    if (block !== -1) return { message: at, block };
  }
  return undefined;
}

/** Whether a copy of an object has all that JSON has of it. */
function isPlain(value: unknown): value is JsonRecord {
  return isRecord(value) && isPlainObject(value) && !('toJSON' in value);
}

/** Returns the mark for a place: one like the next marks. Returns `undefined` if there is none behind it, or one close to it. */
function markBehind(
  { blocksOf, marksOf }: MarkFormat,
  { messages, automatic }: MarkedRequest<object>,
  place: Place,
): JsonRecord | undefined {
  const marks: JsonRecord[] = [];
  let distance = -place.block;
  for (const message of messages.slice(place.message)) {
    for (const block of blocksOf(asRecord(message) ?? {})) {
      const own = distance < 0 ? [] : marksOf(asRecord(block) ?? {});
      if (own.length > 0 && distance <= NEAR_BLOCKS) return undefined;
      marks.push(...own);
      distance += 1;
    }
  }
  if (automatic !== undefined && distance - 1 > NEAR_BLOCKS) marks.push(automatic);
  // Marks that last longer must come before others.
  const mark = marks.find(({ ttl }) => ttl === '1h') ?? marks[0];
  return mark && { ...mark };
}

/** Counts what may be a mark, up to the most that a request may have. */
function countMarks(value: unknown, depth: number = 0): number {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 0;
  if (ArrayBuffer.isView(value)) return 0;
  let count = 0;
  for (const [key, member] of Object.entries(value)) {
    const isMark = MARKS.has(key) && member !== null && member !== undefined;
    count += isMark ? 1 : countMarks(member, depth + 1);
    if (count >= MAX_MARKS) break;
  }
  return count;
}
