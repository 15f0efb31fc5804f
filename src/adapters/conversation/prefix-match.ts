// Compares the messages of a call with a known list, to find the conversation that they continue. Stateless. Does not read messages
// that are the same objects.

import type { IContent } from '../../shared/content.js';
import type { MessageFormat } from '../format/message-format.js';
import type { KnownMessages } from '../format/message-place.js';
import { isSameValue } from '../format/same-value.js';
import { readAlone } from './read-in-slices.js';

/** A known list that is a prefix of the messages of a call. */
export interface PrefixMatch<Message> {
  readonly messages: readonly Message[];
  readonly known: readonly Message[];
  /** Length of `known` when it was compared: the list may have grown since. */
  readonly length: number;
  /** Descending indices of messages that differ in a cache mark only, or that are instructions at the start. */
  readonly varied: readonly number[];
  /** Index of the first message that is another object, or `length`. */
  readonly firstOther: number;
}

/** The known list that is a prefix of a call's messages; empty if the conversation starts, or starts over. */
export interface Continuation<Message> extends Pick<PrefixMatch<Message>, 'varied' | 'firstOther'> {
  readonly known: KnownMessages<Message>;
}

export const FROM_START: Continuation<never> = {
  known: { messages: [], places: [] },
  varied: [],
  firstOther: 0,
};

/**
 * Compares a known list with the start of the messages, from its end, because other conversations most likely differ there.
 * Instructions at the start may differ: many hosts write the time or what they remember into them before each call.
 *
 * @returns `undefined` if the known list is empty or no prefix of the messages
 */
export function matchPrefix<Message>(
  format: MessageFormat<Message>,
  messages: readonly Message[],
  known: readonly Message[],
): PrefixMatch<Message> | undefined {
  const { length } = known;
  if (length === 0 || messages.length < length) return undefined;
  const varied: number[] = [];
  let firstOther = length;
  for (let at = length - 1; at >= 0; at -= 1) {
    const message = messages[at] as Message;
    const former = known[at] as Message;
    if (message === former) continue;
    firstOther = at;
    if (isSameValue(message, former)) continue;
    const isSame = format.isSame(message, former);
    if (!isSame && !(areInstructions(format, messages, at) && areInstructions(format, known, at)))
      return undefined;
    varied.push(at);
  }
  return { messages, known, length, varied, firstOther };
}

/**
 * Returns the messages with copies replaced by the known objects.
 *
 * @param varied indices of messages that differ from the known ones
 */
export function withKnown<Message>(
  { messages: known, places: { length } }: KnownMessages<Message>,
  varied: readonly number[],
  messages: readonly Message[],
): readonly Message[] {
  const taken = [...known.slice(0, length), ...messages.slice(length)];
  for (const at of varied) taken[at] = messages[at] as Message;
  return taken;
}

/** In messages. Two shorter conversations that began alike may well have a later message in common. */
const MIN_EDITED_LENGTH = 6;

/**
 * Whether messages continue a known list though some of it have changed: its first message, its last one and more than half of all are
 * the same. Instructions at the start do not count. A conversation that took another turn differs at the end of the list, but so does
 * one whose host adds the present state to its last messages, or in messages behind them: there, all answers are the same, and a new
 * one follows.
 */
export function isEditedWithin<Message>(
  format: MessageFormat<Message>,
  messages: readonly Message[],
  known: readonly Message[],
): boolean {
  const { length } = known;
  if (length < MIN_EDITED_LENGTH || messages.length < length) return false;
  const isSame = (at: number): boolean => {
    const [message, former] = [messages[at] as Message, known[at] as Message];
    return message === former || format.isSame(message, former);
  };
  const first = known.findIndex((message) => format.isInstruction?.(message) !== true);
  if (first === -1 || !isSame(first)) return false;
  const others = [...known.keys()].filter((at) => at >= first && !isSame(at));
  if (others.length >= (length - first) / 2) return false;
  if (others.at(-1) !== length - 1) return true;
  const isAnswer = (message: Message): boolean => isFrom(format, message, 'ai');
  const hasNew = messages.slice(others[0], length + 1).some(isAnswer);
  return hasNew && !others.some((at) => isAnswer(known[at] as Message));
}

/** Whether a message is from one speaker alone. */
export function isFrom<Message>(
  format: MessageFormat<Message>,
  message: Message | undefined,
  speaker: IContent['speaker'],
): boolean {
  return message !== undefined && areFrom(readAlone(format, message).entries, speaker);
}

export function areFrom(entries: readonly IContent[], speaker: IContent['speaker']): boolean {
  return entries.length > 0 && entries.every((entry) => entry.speaker === speaker);
}

/** Whether the first messages that are no instructions are the same. */
export function beginAlike<Message>(
  format: MessageFormat<Message>,
  one: readonly Message[],
  other: readonly Message[],
): boolean {
  const isFirst = (message: Message): boolean => format.isInstruction?.(message) !== true;
  const [first, otherFirst] = [one.find(isFirst), other.find(isFirst)];
  if (first === undefined || otherFirst === undefined) return false;
  return first === otherFirst || format.isSame(first, otherFirst);
}

/** Whether all messages up to an index are instructions. */
function areInstructions<Message>(
  format: MessageFormat<Message>,
  messages: readonly Message[],
  last: number,
): boolean {
  for (let at = last; at >= 0; at -= 1) {
    if (format.isInstruction?.(messages[at] as Message) !== true) return false;
  }
  return true;
}
