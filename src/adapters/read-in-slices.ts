// Reads messages in slices, so that a long conversation does not block the event loop. Knows no format.

import { assertMadeEntry } from '../shared/ingestion.js';
import type { MessageReader, PlacedEntry, Reading } from './message-format.js';
import { PER_SLICE } from './placed.js';
import { splitAtCompactions } from './provider-compaction.js';

/**
 * Reads messages with a reader.
 *
 * @throws what the reader throws; TypeError for an entry that no history accepts. The reader has read some messages then.
 */
export function* readInSlices<Message>(
  reader: MessageReader<Message>,
  messages: readonly Message[],
  firstIndex: number,
): Generator<void, Reading, undefined> {
  const reading: Reading = { entries: [], pinnedTokens: 0 };
  for (const [at, message] of messages.entries()) {
    if (at % PER_SLICE === 0) yield;
    reader.read(message, firstIndex + at, reading);
  }
  reader.end?.(reading);
  const entries: PlacedEntry[] = [];
  for (const [at, entry] of reading.entries.entries()) {
    if (at % PER_SLICE === 0) yield;
    assertHoldable(entry);
    const split = splitAtCompactions(entry);
    if (split === undefined) entries.push(entry);
    else entries.push(...split);
  }
  return { ...reading, entries };
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
