// Transient messages: some hosts append a message with the present state to each call, and leave it out of the next one. Such a
// message is not added to the session, but sent after the compacted messages.

import { estimateEntryTokens } from '../../shared/tokens/estimate.js';
import type { MessageFormat } from '../format/message-format.js';
import type { KnownMessages } from '../format/message-place.js';
import { areFrom, beginAlike, isFrom, matchPrefix } from './prefix-match.js';
import { readAlone } from './read-in-slices.js';

/** The messages of a call, divided into those for the session and a transient one at the end. */
export interface SplitMessages<Message> {
  readonly stable: readonly Message[];
  /** At most one message. */
  readonly transient: readonly Message[];
  /** Estimated tokens of the transient message; 0 if there is none. */
  readonly transientTokens: number;
}

/** Finds out whether the host of a conversation appends a transient message to its calls. */
export class TransientEnd<Message> {
  /** The transient message of the last call, if there is one; the session does not have it. */
  messages: readonly Message[] = [];
  readonly #format: MessageFormat<Message>;
  #isAppended = false;

  constructor(format: MessageFormat<Message>) {
    this.#format = format;
  }

  /** Whether the last message of a call is transient. */
  get isAppended(): boolean {
    return this.#isAppended;
  }

  /**
   * Splits off the last message as transient, once a call has dropped the last message of the previous one, until a call keeps it.
   *
   * @param knownLength number of messages of the last call, without the transient one
   * @param listsBefore returns the lists whose last message may have been dropped
   */
  split(
    given: readonly Message[],
    knownLength: number,
    listsBefore: () => readonly KnownMessages<Message>[],
  ): SplitMessages<Message> {
    const format = this.#format;
    const [transient] = this.messages;
    const next = given[knownLength];
    const hasNext = transient !== undefined && next !== undefined && given.length > knownLength + 1;
    const wasKept = hasNext && (next === transient || format.isSame(next, transient));
    if (wasKept) this.#isAppended = false;
    else
      this.#isAppended ||= listsBefore().some((list) =>
        hasDroppedEnd(format, given, list.messages),
      );
    return this.#isAppended ? splitTransientEnd(format, given) : allStable(given);
  }
}

/** Returns all messages as stable. */
function allStable<Message>(messages: readonly Message[]): SplitMessages<Message> {
  return { stable: messages, transient: [], transientTokens: 0 };
}

/** Splits off the last message if it may be transient and is not the only one. */
function splitTransientEnd<Message>(
  format: MessageFormat<Message>,
  messages: readonly Message[],
): SplitMessages<Message> {
  const last = messages.at(-1);
  if (last === undefined || messages.length < 2) return allStable(messages);
  const reading = readAlone(format, last);
  if (!mayBeTransient(format, last, reading)) return allStable(messages);
  const transientTokens = reading.entries.reduce(
    (sum, entry) => sum + estimateEntryTokens(entry),
    reading.pinnedTokens,
  );
  return { stable: messages.slice(0, -1), transient: [last], transientTokens };
}

/** Whether a message is the user's, or holds instructions. */
function mayBeTransient<Message>(
  format: MessageFormat<Message>,
  message: Message,
  { entries } = readAlone(format, message),
): boolean {
  return areFrom(entries, 'human') || format.isInstruction?.(message) === true;
}

/** Whether the messages have the model's answer where a known list has its last message, so that this one was transient. */
function hasDroppedEnd<Message>(
  format: MessageFormat<Message>,
  messages: readonly Message[],
  known: readonly Message[],
): boolean {
  const at = known.length - 1;
  const [last, now] = [known[at], messages[at]];
  if (last === undefined || now === undefined || last === now) return false;
  // Checked first, because it is cheaper than comparing all messages before the last one.
  const isReplaced = isFrom(format, now, 'ai') && mayBeTransient(format, last);
  return isReplaced && matchPrefix(format, messages, known.slice(0, at)) !== undefined;
}

/** Returns the known list of whatever conversation whose last message the messages have dropped. */
export function findShortened<Message>(
  format: MessageFormat<Message>,
  messages: readonly Message[],
  lists: readonly (readonly Message[])[],
): readonly Message[] | undefined {
  // Most conversations of a server begin otherwise: reading the last messages of each would cost more than the turn.
  return lists.find(
    (known) => beginAlike(format, messages, known) && hasDroppedEnd(format, messages, known),
  );
}
