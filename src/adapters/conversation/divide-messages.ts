// Finds where the current messages of a conversation can be divided so that the first ones correspond exactly to the first
// entries of its history. Pure.

import { carriesContent } from '../../shared/content.js';
import type { IContent } from '../../shared/content.js';
import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { moveBeforePairs } from '../../shared/summarize/plan-compression.js';
import { OPENING } from './arrange-messages.js';
import type { MessageFormat } from '../format/message-format.js';
import { isPinned } from '../format/message-place.js';
import type { GivenMessage, WrittenMessage } from '../format/message-place.js';
import { isPlaced } from '../format/placed.js';

/** A current message and its source. */
type CurrentPlace<Message> =
  WrittenMessage<Message> | Pick<GivenMessage<Message>, 'current' | 'remaining' | 'parts'>;

/** The first messages, and the number of entries that they correspond to. */
export interface Division<Message> {
  readonly length: number;
  readonly messages: readonly Message[];
  /** The instructions in front of them, which have no entries. */
  readonly instructions: readonly Message[];
}

/**
 * Returns the longest head of messages whose entries all precede `tailStart`; `null` if that head is empty, or if a message has an
 * entry that is not in the history. An answer without content has no entry, and goes with the messages before it.
 */
export function divideMessages<Message>(
  places: readonly CurrentPlace<Message>[],
  history: readonly IContent[],
  tailStart: number,
  { provider, isInstruction }: Pick<MessageFormat<Message>, 'provider' | 'isInstruction'>,
): Division<Message> | null {
  if (provider === undefined) return null;
  const indices = indicesIn(history);
  const { outline } = outlineHistory(history);
  const keepsPairs = (start: number): boolean => moveBeforePairs(start, outline) === start;
  const starts = startsOf(places, indices);
  let best: Division<Message> | null = null;
  const messages: Message[] = [];
  const instructions: Message[] = [];
  let end = 0;
  let before: Message | undefined;
  for (const [at, place] of places.entries()) {
    const { current } = place;
    if (current === null) continue;
    const entries = entriesOf(place, indices);
    if (entries === null) return null;
    const start = starts[at] ?? history.length;
    if (before !== undefined && messages.length > 0 && entries.length > 0 && start >= end) {
      if (start > tailStart) break;
      if (provider.divides(before, current) && keepsPairs(start))
        best = { length: start, messages: [...messages], instructions };
    }
    // Pinned messages stay in place, so they are not compacted.
    const isFixed = !('entry' in place) && isPinned(place);
    if (isFixed && !provider.allowsPinned) break;
    if (!isFixed) messages.push(current);
    else if (messages.length === 0 && isInstruction?.(current) === true) instructions.push(current);
    before = current;
    end = Math.max(end, ...entries.map((index) => index + 1));
  }
  return best;
}

/** The index of each entry of a history, by the entry and by the origins of its blocks. */
function indicesIn(history: readonly IContent[]): ReadonlyMap<object, number> {
  const indices = new Map<object, number>();
  for (const [index, entry] of history.entries()) {
    indices.set(entry, index);
    for (const { origin } of entry.blocks.filter(isPlaced)) indices.set(origin, index);
  }
  return indices;
}

/**
 * By message, the index of the first entry of it and all behind it. The reasoning of an exchange that was pinned until it was complete
 * stands in front of the entry of that exchange, whose first message has none of it.
 */
function startsOf<Message>(
  places: readonly CurrentPlace<Message>[],
  indices: ReadonlyMap<object, number>,
): readonly number[] {
  const starts: number[] = [];
  let start = Infinity;
  for (let at = places.length - 1; at >= 0; at -= 1) {
    const place = places[at];
    if (place === undefined || place.current === null) continue;
    const entries = entriesOf(place, indices);
    start = Math.min(start, ...(entries ?? []));
    starts[at] = start;
  }
  return starts;
}

/** Indices of a message's entries; `null` if one with content is not in the history. */
function entriesOf<Message>(
  place: CurrentPlace<Message>,
  indices: ReadonlyMap<object, number>,
): readonly number[] | null {
  if ('entry' in place) {
    if (place.entry === OPENING) return [];
    const index = indices.get(place.entry);
    return index === undefined ? null : [index];
  }
  const found: number[] = [];
  for (const block of place.remaining) {
    const index = indices.get(block.origin);
    if (index !== undefined) found.push(index);
    else if (carriesContent(block)) return null;
  }
  return found;
}
