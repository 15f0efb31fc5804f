// Reads messages with a format's reader, without the slicing of `readInSlices`.

import type { MessageReader, Reading } from '../../src/adapters/format/message-format.js';

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
