// A message at the end that is there for one call only: some hosts append what is so at the moment, and leave it
// out of the next call. It stays out of the session, and is sent behind what that makes ready.

import type { IContent } from '../shared/content.js';
import { estimateEntryTokens } from '../shared/tokens/estimate.js';
import type { MessageFormat } from './message-format.js';

/** The messages of a call, and the one at their end that is not told to the session. */
export interface SteadyMessages<Message> {
  readonly steady: readonly Message[];
  readonly passing: readonly Message[];
  /** About how many tokens the passing one takes. */
  readonly passingTokens: number;
}

/** Returns all messages as steady. */
export function allSteady<Message>(messages: readonly Message[]): SteadyMessages<Message> {
  return { steady: messages, passing: [], passingTokens: 0 };
}

/** Sets a message of the user's at the end apart from those before it, where there are any. */
export function withoutEnd<Message>(
  format: MessageFormat<Message>,
  messages: readonly Message[],
): SteadyMessages<Message> {
  const last = messages.at(-1);
  if (last === undefined || messages.length < 2) return allSteady(messages);
  const entries = entriesOf(format, last);
  if (!isFrom(entries, 'human')) return allSteady(messages);
  const passingTokens = entries.reduce((sum, entry) => sum + estimateEntryTokens(entry), 0);
  return { steady: messages.slice(0, -1), passing: [last], passingTokens };
}

/**
 * Whether the message at the end of a known list may have been there for that call only: it is the user's, and what
 * stands in its place now is what the model answered.
 */
export function mayHavePassed<Message>(
  format: MessageFormat<Message>,
  last: Message,
  inItsPlace: Message,
): boolean {
  return isFrom(entriesOf(format, inItsPlace), 'ai') && isFrom(entriesOf(format, last), 'human');
}

function isFrom(entries: readonly IContent[], speaker: IContent['speaker']): boolean {
  return entries.length > 0 && entries.every((entry) => entry.speaker === speaker);
}

/** What cannot be read alone is told to the session, which says what is wrong with it. */
function entriesOf<Message>(format: MessageFormat<Message>, message: Message): readonly IContent[] {
  try {
    return format.createReader().read([message], 0).entries;
  } catch {
    return [];
  }
}
