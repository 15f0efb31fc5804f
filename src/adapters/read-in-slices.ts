// Reads messages in slices, so that a long conversation does not block the event loop. Knows no format.

import { assertMadeEntry } from '../shared/ingestion.js';
import type { MessageReader, PlacedEntry, Reading } from './message-format.js';
import { PER_SLICE } from './placed.js';
import { splitAtCompactions } from './provider-compaction.js';

/**
 * Reads messages with a reader. Yields between slices of messages, or where the reader's own `readInSlices` does.
 *
 * @throws what the reader throws; TypeError for an entry that no history accepts. The reader has read some messages then.
 */
export function* readInSlices<Message>(
  reader: MessageReader<Message>,
  messages: readonly Message[],
  firstIndex: number,
): Generator<void, Reading, undefined> {
  const entries: PlacedEntry[] = [];
  let pinnedTokens = 0;
  const length = reader.readInSlices === undefined ? PER_SLICE : messages.length;
  for (let from = 0; from === 0 || from < messages.length; from += length) {
    const part = length >= messages.length ? messages : messages.slice(from, from + length);
    const read = reader.readInSlices
      ? yield* reader.readInSlices(part, firstIndex)
      : reader.read(part, firstIndex + from);
    pinnedTokens += read.pinnedTokens;
    for (const entry of read.entries) {
      assertHoldable(entry);
      const split = splitAtCompactions(entry);
      if (split === undefined) entries.push(entry);
      else entries.push(...split);
      if (entries.length % PER_SLICE === 0) yield;
    }
    if (part === messages) break;
  }
  return { entries, pinnedTokens };
}

/** Entries of a reader have a valid shape, but may exceed the limits of a history. */
function assertHoldable(entry: PlacedEntry): void {
  const at = entry.blocks[0]?.origin[0] ?? 0;
  try {
    assertMadeEntry(entry, at);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`Expected message ${at} to fit into an entry of a history. ${reason}`, {
      cause,
    });
  }
}
