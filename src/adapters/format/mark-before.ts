// One more cache mark in a request whose edit lands deep in the history. Anthropic reads up to an entry that an earlier request wrote
// at one of its marks, and looks for it a few blocks in front of each mark of this request. Agents mark the system text and the last
// messages, so after an edit further back nothing between the two would be read.

import { asArray, asRecord, isPlainObject, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { MARKS } from './cache-marks.js';
import { madeFrom } from './originals.js';

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
  /** Returns the block with another mark, or without its own. */
  readonly withMark: (block: JsonRecord, mark: JsonRecord | undefined) => JsonRecord;
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
 * Returns the messages with a cache mark in front of an edit. If the request has all the marks that it may have, moves one there from
 * behind the edit, where only the last one is read from later. Copies the messages whose marks change. Returns the same list if a mark
 * would be one too many or of no use: without marks behind the place, nothing was cached there.
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
  const behind = marksBehind(format, request, place);
  if (behind === undefined) return messages;
  const marked = [...messages];
  const setMark = ({ message: at, block }: Place, mark: JsonRecord | undefined): void => {
    const message = marked[at] as Message & JsonRecord;
    const blocks = [...format.blocksOf(message)];
    blocks[block] = format.withMark(asRecord(blocks[block]) ?? {}, mark);
    marked[at] = madeFrom<Message>({ ...message, content: blocks }, message);
  };
  if (countMarks([besides, messages]) >= MAX_MARKS) {
    if (behind.spare === undefined) return messages;
    setMark(behind.spare, undefined);
  }
  setMark(place, behind.mark);
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

/** The mark for a place, and the place of a mark that can be moved there. */
interface MarksBehind {
  readonly mark: JsonRecord;
  readonly spare: Place | undefined;
}

/** Reads the marks behind a place. Returns `undefined` if there is none, or one close to it. */
function marksBehind(
  format: MarkFormat,
  { messages, automatic }: MarkedRequest<object>,
  place: Place,
): MarksBehind | undefined {
  const marks: JsonRecord[] = [];
  let spare: (Place & { readonly marksBefore: number }) | undefined;
  let distance = -place.block;
  for (let at = place.message; at < messages.length; at += 1) {
    const message = messages[at];
    for (const [index, block] of format.blocksOf(asRecord(message) ?? {}).entries()) {
      const own = distance < 0 ? [] : format.marksOf(asRecord(block) ?? {});
      if (own.length > 0 && distance <= NEAR_BLOCKS) return undefined;
      if (own.length > 0 && canLoseMarks(format, message, index))
        spare ??= { message: at, block: index, marksBefore: marks.length };
      marks.push(...own);
      distance += 1;
    }
  }
  if (automatic !== undefined && distance - 1 > NEAR_BLOCKS) marks.push(automatic);
  // Marks that last longer must come before others.
  const mark = marks.find(({ ttl }) => ttl === '1h') ?? marks[0];
  const isLast = spare === undefined || spare.marksBefore === marks.length - 1;
  return mark && { mark: { ...mark }, spare: isLast ? undefined : spare };
}

/** Whether a block of the message's content has no mark left without its own. */
function canLoseMarks(format: MarkFormat, message: unknown, index: number): boolean {
  if (!isPlain(message)) return false;
  const block: unknown = asArray(message['content'])[index];
  return isPlain(block) && format.marksOf(format.withMark(block, undefined)).length === 0;
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
