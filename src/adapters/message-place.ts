// What the messages of one conversation are to their view: given ones with what is left of them, and those that an edit wrote.
// Changes nothing.

import type { IContent } from '../shared/content.js';
import type { PartEdits, PlacedBlock, PlacedEntry } from './message-format.js';

/** A message that was given. */
export interface GivenMessage<Message> {
  /** Its index among all that were given. */
  readonly index: number;
  /** As it was given last: an SDK may build it anew, or move a mark of a cache. */
  given: Message;
  /** Its parts as they were read; none when it is pinned. */
  parts: PlacedBlock[];
  /** What is left of its parts: the same list until an edit comes. */
  left: readonly PlacedBlock[];
  /** What became of its parts that are not as they were given; `null` when nothing of it is left. */
  edits: PartEdits | null;
  /** The message as it stands; `null` when nothing of it does. */
  standing: Message | null;
}

/** A message that an edit put in the place of others. */
export interface WrittenMessage<Message> {
  readonly entry: IContent;
  standing: Message | null;
}

/** What one of the messages as they stand is. */
export type Place<Message> = GivenMessage<Message> | WrittenMessage<Message>;

/** A list of messages by which a conversation can be recognized, and what each of them stands for. */
export interface KnownMessages<Message> {
  readonly messages: readonly Message[];
  readonly places: readonly Place<Message>[];
}

/** Messages that were read, and are the conversation's only from `commit` on. */
export interface ReadAhead<Message> {
  readonly entries: readonly PlacedEntry[];
  /** Returns what the messages stand for from then on. */
  readonly commit: () => readonly Place<Message>[];
  /** The same with turns of the event loop between; nothing else may be read meanwhile. */
  readonly commitInTurns: () => Promise<readonly Place<Message>[]>;
}

/** What became of the parts of a message that is as it was given. */
export const NO_EDITS: PartEdits = new Map();

/** The parts of a message of which nothing was read. Nobody adds to it. */
export const NO_PARTS: PlacedBlock[] = [];

/** Whether a place is that of a message which was given no sooner than another. */
export function isAtOrBehind<Message>(
  place: Place<Message> | undefined,
  { index }: GivenMessage<Message>,
): boolean {
  return place !== undefined && !('entry' in place) && place.index >= index;
}

/** Whether anything of a message stands. */
export function isStanding({ standing }: { readonly standing: unknown }): boolean {
  return standing !== null;
}

/** Whether nothing of a message may be edited. */
export function isPinned(record: { readonly parts: readonly unknown[] } | undefined): boolean {
  return record?.parts.length === 0;
}
