// One more cache mark in a request whose edit lands deep in the history. Anthropic reads up to an entry that an earlier request wrote
// at one of its marks, and looks for it a few blocks in front of each mark of this request. Agents mark the system text and the last
// messages, so after an edit further back nothing between the two would be read.

import { asArray, asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { isPlainObject } from '../format/plain-data.js';

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

interface Place {
  readonly message: number;
  readonly block: number;
}

/**
 * Returns the messages with a cache mark in front of an edit. Copies the message that it marks. Returns the same list if a mark would be
 * one too many or of no use: without marks behind the place, nothing was cached there.
 *
 * @param fields the other fields of the request
 * @param index of the first message that the edit has changed
 */
export function withMarkBefore<Message extends object>(
  fields: JsonRecord,
  messages: readonly Message[],
  index: number,
): readonly Message[] {
  const place = findPlace(messages, index);
  if (place === undefined) return messages;
  const mark = markBehind(fields, messages, place);
  const { messages: _, ...besides } = fields;
  if (mark === undefined || countMarks([besides, messages]) >= MAX_MARKS) return messages;
  const marked = [...messages];
  const message = messages[place.message] as Message;
  const blocks = [...blocksOf(message)];
  blocks[place.block] = { ...asRecord(blocks[place.block]), cache_control: mark };
  marked[place.message] = { ...message, content: blocks };
  return marked;
}

/** Finds the last block in front of a message that can have a mark. */
function findPlace(messages: readonly object[], index: number): Place | undefined {
  for (let at = index - 1; at >= Math.max(0, index - SEARCHED_MESSAGES); at -= 1) {
    const message = messages[at];
    if (!isPlain(message) || !MARKED_ROLES.has(message['role'])) continue;
    const block = blocksOf(message).findLastIndex(canHaveMark);
    if (block !== -1) return { message: at, block };
  }
  return undefined;
}

const MARKED_ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant']);

/** The blocks of a message; a text in place of a list is one block. */
function blocksOf(message: object | undefined): readonly unknown[] {
  const content = asRecord(message)?.['content'];
  return typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content);
}

/** Whether the API takes a mark on a block. It refuses one on reasoning and on an empty text. */
function canHaveMark(block: unknown): boolean {
  if (!isPlain(block)) return false;
  switch (block['type']) {
    case 'text':
      return (asText(block['text']) ?? '').trim() !== '';
    case 'tool_use':
    case 'tool_result':
    case 'image':
    case 'document':
      return true;
    default:
      return false;
  }
}

/** Whether a copy of an object has all that JSON has of it. */
function isPlain(value: unknown): value is JsonRecord {
  return isRecord(value) && isPlainObject(value) && !('toJSON' in value);
}

/** Returns the mark for a place: one like the next marks. Returns `undefined` if there is none behind it, or one close to it. */
function markBehind(
  fields: JsonRecord,
  messages: readonly object[],
  place: Place,
): JsonRecord | undefined {
  const marks: JsonRecord[] = [];
  let distance = -place.block;
  for (const message of messages.slice(place.message)) {
    for (const block of blocksOf(message)) {
      const own = distance < 0 ? [] : marksOf(block);
      if (own.length > 0 && distance <= NEAR_BLOCKS) return undefined;
      marks.push(...own);
      distance += 1;
    }
  }
  // The automatic mark is on the last block.
  const automatic = asRecord(fields['cache_control']);
  if (automatic !== undefined && distance - 1 > NEAR_BLOCKS) marks.push(automatic);
  // Marks that last longer must come before others.
  const mark = marks.find(({ ttl }) => ttl === '1h') ?? marks[0];
  return mark && { ...mark };
}

/** The marks of a block and of blocks in it. Not of what a tool was called with, which may have any fields. */
function marksOf(block: unknown): readonly JsonRecord[] {
  const { cache_control: mark, content, source } = asRecord(block) ?? {};
  const inner = [...asArray(content), ...asArray(asRecord(source)?.['content'])];
  return [...inner.flatMap(marksOf), asRecord(mark) ?? []].flat();
}

/** Counts what may be a mark, up to the most that a request may have. */
function countMarks(value: unknown, depth: number = 0): number {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 0;
  let count = 0;
  for (const [key, member] of Object.entries(value)) {
    const isMark = key === 'cache_control' && member !== null && member !== undefined;
    count += isMark ? 1 : countMarks(member, depth + 1);
    if (count >= MAX_MARKS) break;
  }
  return count;
}
