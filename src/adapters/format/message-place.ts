// The records of a message view: given messages with their edits, and messages that ctxfold wrote. Data only.

import type { IContent } from '../../shared/content.js';
import { asRecord } from '../../shared/json.js';
import type { PartEdits, PlacedBlock, PlacedEntry } from './message-format.js';

/** A message that was given. */
export interface GivenMessage<Message> {
  /** Index among all given messages. */
  readonly index: number;
  /** The newest object: an SDK may rebuild the message, or move a cache mark. */
  given: Message;
  /** Number of parts of `given` when it was read. */
  length: number;
  /** Its parts as they were read; if it is pinned, its reasoning alone. */
  parts: PlacedBlock[];
  /** The blocks that edits have left of its parts: the same list until the first edit. */
  remaining: readonly PlacedBlock[];
  /** Its edited and removed parts; `null` if nothing remains. */
  edits: PartEdits | null;
  /** The message after edits; `null` if nothing remains. */
  current: Message | null;
}

/** A message that ctxfold wrote to replace others. */
export interface WrittenMessage<Message> {
  readonly entry: IContent;
  current: Message | null;
}

/** What one of the current messages comes from. */
export type Place<Message> = GivenMessage<Message> | WrittenMessage<Message>;

/** A list of messages by which a conversation is recognized, and the place of each. */
export interface KnownMessages<Message> {
  readonly messages: readonly Message[];
  readonly places: readonly Place<Message>[];
}

/** Messages that were read. Committing adds them to the view. */
export interface ReadAhead<Message> {
  readonly entries: readonly PlacedEntry[];
  /** Returns the places of the messages. Nothing else may be read until the slices end. */
  readonly commitInSlices: () => Generator<void, readonly Place<Message>[], undefined>;
}

/** Shared by all unedited messages. */
export const NO_EDITS: PartEdits = new Map();

/** Shared by all messages without parts; never modified. */
export const NO_PARTS: PlacedBlock[] = [];

/** Whether a place is a given message that is the other one or a later one. */
export function isAtOrBehind<Message>(
  place: Place<Message> | undefined,
  { index }: GivenMessage<Message>,
): boolean {
  return place !== undefined && !('entry' in place) && place.index >= index;
}

/** Returns the number of parts of a message; a text is one, and so is what throws. */
export function lengthOf(message: unknown): number {
  try {
    const { content, parts = content } = asRecord(message) ?? {};
    return Array.isArray(parts) ? parts.length : 1;
  } catch {
    return 1;
  }
}

/** Whether a message stays in its place: it has no entry, but perhaps for its reasoning. */
export function isPinned(record: { readonly parts: readonly PlacedBlock[] } | undefined): boolean {
  return record?.parts.every(({ isApart }) => isApart) === true;
}
