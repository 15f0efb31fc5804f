// Puts the messages of a conversation, given ones and those that ctxfold wrote, in the order of an edited history. Pure.

import { hasOpenCalls } from '../../main/state/resume.js';
import { isAcknowledgement } from '../../main/summarizer/summary-note.js';
import { humanText } from '../../shared/content.js';
import type { IContent } from '../../shared/content.js';
import type { MessageFormat, PlacedBlock } from '../format/message-format.js';
import { isPinned } from '../format/message-place.js';
import type { GivenMessage, Place, WrittenMessage } from '../format/message-place.js';
import { isPlaced, PER_SLICE } from '../format/placed.js';

/** Places of messages in the order of sending. */
export interface Arrangement<Message> {
  readonly places: Place<Message>[];
  /** Written messages that can be sent once the open exchange is complete. */
  readonly waiting: readonly Place<Message>[];
}

/**
 * Returns the places for a history: messages in the order of its entries, with pinned messages where they were among them. A written
 * message comes after the pinned messages that follow the previous place, but before a pinned message of the model, whose calls may be
 * answered by what follows. A written message whose entry is within a given message comes after that message and the answers to its
 * calls. The acknowledgement of a summary is omitted right before an answer of the model: together they would be one turn, which some
 * models require to start with reasoning.
 *
 * @param format says which messages are the model's
 * @param openFrom index of the first message of an incomplete exchange, into which no message may be inserted
 * @param records the given messages, with the blocks that the history has of them
 * @param written returns the message of an entry that ctxfold wrote
 */
export function* arrangeMessages<Message>(
  records: readonly GivenMessage<Message>[],
  written: (entry: IContent) => WrittenMessage<Message>,
  history: readonly IContent[],
  format: Pick<MessageFormat<Message>, 'mayNotOpen'>,
  openFrom: number = Infinity,
): Generator<void, Arrangement<Message>, undefined> {
  const places: Place<Message>[] = [];
  const held: Place<Message>[] = [];
  let next = 0;
  let last: PlacedBlock | undefined;
  const placeUpTo = (index: number): void => {
    for (; next <= index; next += 1) {
      const record = records[next];
      if (record !== undefined && record.current !== null) places.push(record);
    }
  };
  const isOfModel = (record: GivenMessage<Message> | undefined): boolean =>
    record !== undefined && format.mayNotOpen?.(record.given) === true;
  const isWithinOpen = (): boolean => last !== undefined && last.origin[0] >= openFrom;
  const isWithinMessage = (): boolean =>
    isWithinOpen() ||
    (last !== undefined && records[last.origin[0]]?.remaining.at(-1)?.origin !== last.origin);
  for (const [at, entry] of history.entries()) {
    if (at % PER_SLICE === 0) yield;
    if (entry.speaker !== 'tool' && !isWithinMessage()) places.push(...held.splice(0));
    const blocks = entry.blocks.filter(isPlaced);
    for (const { origin } of blocks) placeUpTo(origin[0]);
    last = blocks.at(-1) ?? last;
    if (entry.blocks.length === 0 || blocks.length > 0) continue;
    if (isAcknowledgement(entry) && history[at + 1]?.speaker === 'ai') continue;
    if (held.length > 0 || isWithinMessage()) {
      held.push(written(entry));
      continue;
    }
    while (isPinned(records[next]) && !isOfModel(records[next])) placeUpTo(next);
    places.push(written(entry));
  }
  const isOpen = isWithinOpen() || (held.length > 0 && hasOpenCalls(history));
  const waiting = isOpen ? held.splice(0) : [];
  places.push(...held);
  placeUpTo(records.length - 1);
  return { places, waiting };
}

/** Part of no history. Precedes a pinned answer of the model once all before it is gone: providers want the user's turn first. */
export const OPENING: IContent = humanText('[Earlier messages are not shown.]');

/** Upper bound of the tokens that the opening takes as a message. */
export const OPENING_TOKENS = 16;

/**
 * Adds the opening if only pinned messages are left before the first answer of the model, which is pinned, too.
 *
 * @param written returns the message of the opening
 */
export function withOpening<Message>(
  places: Place<Message>[],
  format: MessageFormat<Message>,
  written: () => WrittenMessage<Message>,
): Place<Message>[] {
  for (const [at, place] of places.entries()) {
    // No opening is needed: an unpinned message, the opening, or another written message comes first.
    if ('entry' in place || !isPinned(place)) break;
    if (format.mayNotOpen?.(place.given) !== true) continue;
    return place.index === at ? places : places.toSpliced(at, 0, written());
  }
  return places;
}
