// Where reasoning has to stand, and where it must not. Whether it is still what the model said, no
// single history can tell: `findViolations` compares it with the one it was made from.

import { callsOf, eachPart, eachTurn } from './part-search.js';
import type { Check, Turn, TurnPart } from './provider-request.js';

const BLOCK_TYPES: Readonly<Record<TurnPart['kind'], string>> = {
  text: 'text',
  reasoning: 'thinking',
  call: 'tool_use',
  result: 'tool_result',
  media: 'image',
  opaque: 'block',
};

/**
 * Reasoning is on, and the assistant's present turn starts with something else; the subject is what.
 * The turn began behind the newest message that is more than results.
 */
export const startsWithoutThinking: Check = ({ turns, thinking }) => {
  if (thinking !== true) return [];
  const start = turns.findLastIndex(
    ({ role, parts }) => role === 'user' && !parts.some(({ kind }) => kind === 'result'),
  );
  const turn = turns[start + 1];
  const first = turn?.role === 'assistant' ? turn.parts[0] : undefined;
  if (first === undefined || first.kind === 'reasoning') return [];
  return [{ turn: start + 1, part: 0, subject: BLOCK_TYPES[first.kind] }];
};

/** Reasoning is off, and the assistant comes last with some of it. */
export const endsWithThinking: Check = ({ turns, thinking }) => {
  const last = turns.length - 1;
  if (thinking !== false || turns[last]?.role !== 'assistant') return [];
  const part = turns[last].parts.findIndex(({ kind }) => kind === 'reasoning');
  return part === -1 ? [] : [{ turn: last, part }];
};

/** Reasoning has no signature. */
export const isUnsigned: Check = eachPart((part) => part.kind === 'reasoning' && !part.isSigned);

/** Reasoning ends a message. */
export const closesWithThinking: Check = eachTurn(({ role, parts }) =>
  role === 'assistant' && parts.at(-1)?.kind === 'reasoning'
    ? { part: parts.length - 1 }
    : undefined,
);

/**
 * Signatures are asked for, and the first call of a step of the present turn has none; the subject is
 * its name. The turn began behind the newest message that is more than results.
 */
export const callsWithoutSignature: Check = ({ turns, requiresThoughtSignatures = false }) => {
  if (!requiresThoughtSignatures) return [];
  const start = turns.findLastIndex(
    ({ role, parts }) => role === 'user' && parts.some(({ kind }) => kind !== 'result'),
  );
  return turns.flatMap((turn, at) => {
    const [first] = callsOf(turn);
    if (at <= start || first === undefined || first.isSigned) return [];
    return [{ turn: at, part: turn.parts.indexOf(first), subject: first.name }];
  });
};

/**
 * A reasoning item with an id is followed by nothing that the model said or called then; the subject
 * is the id. Of items that were read from a history, what followed stands in the same entry.
 */
export const standsAlone: Check = eachTurn((turn, at, turns) => {
  const { itemId } = turn;
  if (itemId === undefined || !isReasoning(turn)) return undefined;
  const next = turns[at + 1];
  const isFollowed = next?.role === 'assistant' && next.entry === turn.entry;
  return isFollowed ? undefined : { subject: itemId };
});

function isReasoning({ parts }: Turn): boolean {
  return parts.length > 0 && parts.every(({ kind }) => kind === 'reasoning');
}
