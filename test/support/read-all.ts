// Reads messages at once, without the slicing of `readInSlices`.

import type { MessageView } from '../../src/adapters/conversation/message-view.js';
import type {
  MessageReader,
  PlacedEntry,
  Reading,
} from '../../src/adapters/format/message-format.js';
import { runSlices } from '../../src/shared/slices.js';

/** Reads messages with a format's reader. */
export function readAll<Message>(
  reader: MessageReader<Message>,
  messages: readonly Message[],
  firstIndex: number,
): Reading {
  const reading: Reading = { entries: [], pinnedTokens: 0 };
  for (const [at, message] of messages.entries()) reader.read(message, firstIndex + at, reading);
  reader.end?.(reading);
  return reading;
}

/** Has a view read and keep messages; returns their entries. */
export function readInto<Message extends object>(
  view: MessageView<Message>,
  messages: readonly Message[],
): readonly PlacedEntry[] {
  const { entries, commitInSlices } = runSlices(view.readInSlices(messages));
  runSlices(commitInSlices());
  return entries;
}
