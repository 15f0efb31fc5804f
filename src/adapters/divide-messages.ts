// Finds where the messages of a conversation can be divided, so that the first of them are exactly what the first entries of its
// history stand for. Pure.

import { carriesContent } from '../shared/content.js';
import type { IContent } from '../shared/content.js';
import { outlineHistory } from '../shared/summarize/history-outline.js';
import { moveBeforePairs } from '../shared/summarize/plan-compression.js';
import type { PlacedBlock, ProviderMessages } from './message-format.js';

/** A message as it stands, and what it stands for: an entry that was written, or blocks of entries. */
type StandingPlace<Message> =
  | { readonly standing: Message | null; readonly entry: IContent }
  | {
      readonly standing: Message | null;
      readonly left: readonly PlacedBlock[];
      readonly parts: readonly unknown[];
    };

/** The first messages, and how many entries they stand for. */
export interface Division<Message> {
  readonly length: number;
  readonly messages: readonly Message[];
}

/**
 * Returns the most messages that stand for entries before `tailStart` alone, `null` when there are none, or one stands for an
 * entry that the history does not have. An answer that says nothing is in none, and goes along with the messages before it.
 */
export function divideMessages<Message>(
  places: readonly StandingPlace<Message>[],
  history: readonly IContent[],
  tailStart: number,
  provider: ProviderMessages<Message> | undefined,
): Division<Message> | null {
  if (provider === undefined) return null;
  const indices = new Map<object, number>();
  for (const [index, entry] of history.entries()) {
    indices.set(entry, index);
    for (const block of entry.blocks)
      if ('origin' in block) indices.set(block.origin as object, index);
  }
  const { outline } = outlineHistory(history);
  let best: Division<Message> | null = null;
  const messages: Message[] = [];
  let end = 0;
  let before: Message | undefined;
  for (const place of places) {
    if (place.standing === null) continue;
    const entries = entriesOf(place, indices);
    if (entries === null) return null;
    const isPinned = !('entry' in place) && place.parts.length === 0;
    const start = Math.min(...entries);
    const isBoundary =
      entries.length > 0 && start >= end && before !== undefined && messages.length > 0;
    if (isBoundary && start > tailStart) break;
    if (isBoundary && provider.divides(before as Message, place.standing)) {
      if (moveBeforePairs(start, outline) === start)
        best = { length: start, messages: [...messages] };
    }
    if (isPinned && !provider.takesPinned) break;
    before = place.standing;
    // What stays where it is need not be told again.
    if (!isPinned) messages.push(place.standing);
    end = Math.max(end, ...entries.map((index) => index + 1));
  }
  return best;
}

/** The entries that a message stands for; `null` when one that says something is not in the history. */
function entriesOf<Message>(
  place: StandingPlace<Message>,
  indices: ReadonlyMap<object, number>,
): readonly number[] | null {
  if ('entry' in place) {
    const index = indices.get(place.entry);
    return index === undefined ? null : [index];
  }
  const found: number[] = [];
  for (const block of place.left) {
    const index = indices.get(block.origin);
    if (index !== undefined) found.push(index);
    else if (carriesContent(block)) return null;
  }
  return found;
}
