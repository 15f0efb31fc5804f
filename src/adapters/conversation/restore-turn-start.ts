// Puts back what the turn in progress began with, if requests to other models, or under another reasoning policy, have removed it. A
// session leaves it alone for a model that needs it, but does not keep what it has removed; the caller's messages still have it. Pure.

import { beginsWithReasoning } from '../../main/preflight/reasoning-policy.js';
import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import { findTurnStart } from '../../shared/turn-start.js';
import type { TurnPart } from '../../shared/turn-start.js';
import { isAtOrBehind } from '../format/message-place.js';
import type { GivenMessage, Place } from '../format/message-place.js';
import type { MessageView } from './message-view.js';

/**
 * Returns the current messages with the call that began the turn, and its results, as they were given, if the turn now begins without
 * reasoning; the same list otherwise. Also restores a call whose results were removed while words of the user beside them stay: these
 * would begin another turn; and the end of an earlier turn, whose rest would be a part of this one. If nothing is left in front of a
 * restored call, so is the question, because a request begins with the user. Acknowledgements of summaries go where they would end the
 * turn, and summaries where they would begin another go in front of the answers before them.
 *
 * @param current the view's current messages, or the caller's copies of them
 */
export function restoreTurnStart<Message>(
  { knownLists: [{ places: records }, { places }] }: Pick<MessageView<Message>, 'knownLists'>,
  current: readonly Message[],
): readonly Message[] {
  const sent = places[findTurnStart(places, partOfPlace).start];
  if (sent === undefined || ('remaining' in sent && beginsWithReasoning(sent.remaining)))
    return current;
  const { question, start } = findTurnStart(records, partOf);
  const first = records[start];
  if (first === undefined ? question === -1 : !beginsWithReasoning(first.parts)) return current;
  const turn = records.slice(start === -1 ? question : start);
  const missing = missingIn(exchangesOf(turn));
  missing.unshift(...boundaryAt(question, records));
  const begun = places.findIndex((place) => turn[0] !== undefined && isAtOrBehind(place, turn[0]));
  const isWithin = (place: Place<Message>, at: number): boolean =>
    'entry' in place && begun !== -1 && at > begun;
  if (missing.length === 0 && !places.some(isWithin)) return current;
  const asked = records[question]?.given;
  const messages: Message[] = [];
  let next = 0;
  let isAcknowledged = false;
  /** Number of messages in front of the answers that are last. */
  let heard = 0;
  const restoreUpTo = (index: number): void => {
    for (; (missing[next]?.index ?? Infinity) < index; next += 1) {
      const record = missing[next] as GivenMessage<Message>;
      // The acknowledgement of a summary would begin the turn instead.
      if (isAcknowledged && record.speaker === 'ai') messages.pop();
      isAcknowledged = false;
      if (messages.length === 0 && asked !== undefined) heard = messages.push(asked);
      const length = messages.push(record.given);
      if (record.speaker !== 'ai') heard = length;
    }
  };
  for (const [at, message] of current.entries()) {
    const place = places[at];
    if (place !== undefined && isWithin(place, at)) {
      // A summary's acknowledgement would end the turn, and a summary behind an answer without calls begin another.
      if (partOfPlace(place) !== 'answer') messages.splice(heard++, 0, message);
      continue;
    }
    if (place === undefined || 'entry' in place) {
      isAcknowledged = place?.entry.speaker === 'ai';
      messages.push(message);
    } else {
      const isMissing = missing.includes(place);
      restoreUpTo(isMissing ? place.index + 1 : place.index);
      if (!isMissing) messages.push(message);
      isAcknowledged = false;
    }
    if (place === undefined || partOfPlace(place) !== 'answer') heard = messages.length;
  }
  restoreUpTo(Infinity);
  return messages;
}

/** Returns the messages of a turn that are to be given back, in order. */
function missingIn<Message>(
  exchanges: readonly (readonly GivenMessage<Message>[])[],
): GivenMessage<Message>[] {
  const first = exchanges.find((exchange) => exchange.some(isLeft));
  if (first === undefined) return [];
  const restored = exchanges.filter(hasOnlyWords);
  const [begun] = first;
  if (!beginsWithReasoning(hasOnlyWords(first) ? begun?.parts : begun?.remaining))
    restored.unshift(...exchanges.slice(0, 1));
  return [...new Set(restored.flat())];
}

/**
 * Returns what is gone of the answer that ended an earlier turn and of the question that began this one, if that answer is gone: what
 * is left of earlier turns would be a part of this one. Empty if nothing is.
 */
function boundaryAt<Message>(
  question: number,
  records: readonly GivenMessage<Message>[],
): readonly GivenMessage<Message>[] {
  const answers = records.slice(0, Math.max(0, question)).filter(({ speaker }) => speaker === 'ai');
  const end = answers.at(-1);
  if (end === undefined || isLeft(end) || end.parts.some(isToolCallBlock)) return [];
  if (!answers.some(isLeft)) return [];
  return [end, ...records.slice(question, question + 1).filter((record) => !isLeft(record))];
}

const PARTS = { ai: 'answer', human: 'words', tool: 'results' } as const;

function partOf<Message>({ speaker }: GivenMessage<Message>): TurnPart {
  return speaker === undefined ? 'other' : PARTS[speaker];
}

function partOfPlace<Message>(place: Place<Message>): TurnPart {
  if ('entry' in place) return PARTS[place.entry.speaker];
  const part = partOf(place);
  return part === 'results' && !hasResults(place) ? 'words' : part;
}

/** The records of a turn, from each answer to the next one: its results may be spread over several messages. */
function exchangesOf<Message>(
  turn: readonly GivenMessage<Message>[],
): readonly (readonly GivenMessage<Message>[])[] {
  const exchanges: GivenMessage<Message>[][] = [];
  for (const record of turn) {
    if (record.speaker === 'ai') exchanges.push([record]);
    else exchanges.at(-1)?.push(record);
  }
  return exchanges;
}

/** Whether words of the user are left of an exchange, but no results. */
function hasOnlyWords<Message>(exchange: readonly GivenMessage<Message>[]): boolean {
  const said = exchange
    .filter(({ speaker }) => speaker === 'human' || speaker === 'tool')
    .filter(isLeft);
  return said.length > 0 && !said.some(hasResults);
}

function isLeft<Message>({ current }: GivenMessage<Message>): boolean {
  return current !== null;
}

function hasResults<Message>({ remaining }: GivenMessage<Message>): boolean {
  return remaining.some(isToolResponseBlock);
}
