// The records of a message view: given messages with their edits, and messages that ctxfold wrote. Data only.

import type { IContent, Speaker } from '../../shared/content.js';
import { asRecord } from '../../shared/json.js';
import type { PartEdits, PlacedBlock, PlacedEntry } from './message-format.js';

/** The record of a message that the caller passed. */
export interface GivenMessage<Message> {
  /** Index among all given messages. */
  readonly index: number;
  /** The newest object: an SDK may rebuild the message, or move a cache mark. */
  given: Message;
  /** Number of parts of `given` when it was read. */
  length: number;
  /** The parts of the message as they were read. A pinned message has only its reasoning here. */
  parts: PlacedBlock[];
  /** The blocks that edits have left of `parts`: the same list until the first edit. */
  remaining: readonly PlacedBlock[];
  /** The edited and removed parts; `null` if nothing of the message remains. */
  edits: PartEdits | null;
  /** Of its entry; `tool` if one of several is. A message without entries has none. */
  speaker: Speaker | undefined;
  /** The message after edits; `null` if nothing of it remains. */
  current: Message | null;
}

/** A message that ctxfold wrote to replace others. */
export interface WrittenMessage<Message> {
  readonly entry: IContent;
  current: Message | null;
}

/** The record of a current message. */
export type Place<Message> = GivenMessage<Message> | WrittenMessage<Message>;

/** A list of messages by which a conversation is recognized, and the place of each. */
export interface KnownMessages<Message, PlaceOfEach = Place<Message>> {
  readonly messages: readonly Message[];
  readonly places: readonly PlaceOfEach[];
}

/** Messages that were read but not yet added to the view: committing adds them. */
export interface ReadAhead<Message> {
  readonly entries: readonly PlacedEntry[];
  /** Adds the messages, and returns their places. No other reading may begin until this generator has ended. */
  readonly commitInSlices: () => Generator<void, readonly Place<Message>[], undefined>;
}

/** Shared by all unedited messages. */
export const NO_EDITS: PartEdits = new Map();

/** Shared by all messages without parts; never modified. */
export const NO_PARTS: PlacedBlock[] = [];

/** Whether a place is a given message with the same or a higher index than another one. */
export function isAtOrBehind<Message>(
  place: Place<Message> | undefined,
  { index }: GivenMessage<Message>,
): boolean {
  return place !== undefined && !('entry' in place) && place.index >= index;
}

/** Returns the number of parts of a message: 1 for a text, and for a message that throws when it is read. */
export function lengthOf(message: unknown): number {
  try {
    const { content, parts = content } = asRecord(message) ?? {};
    return Array.isArray(parts) ? parts.length : 1;
  } catch {
    return 1;
  }
}

/** Whether a message is pinned, that is, stays in its place: no part of it has an entry, except perhaps its reasoning. */
export function isPinned(record: { readonly parts: readonly PlacedBlock[] } | undefined): boolean {
  return record?.parts.every(({ isOfPinned }) => isOfPinned) === true;
}
