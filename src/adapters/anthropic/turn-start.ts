// With a thinking budget, the assistant's turn that is under way has to start with the reasoning that it
// started with. Where an edit took away a call that the start hangs on, it comes back while the turn lasts.

import { isCompactionPart } from '../provider-compaction.js';
import type { AnthropicMessage, MessageParamFormat } from './message-param-format.js';
import { answeredIdOf, isMessagePart, isReasoning } from './message-part.js';
import type { MessagePart } from './message-part.js';

/**
 * Returns what came of messages, in a form in which the present turn starts with the reasoning that it
 * started with: its first call and the answers come back when they are gone while later ones are not, and
 * so does a call whose answers stood beside something the user said, for that would start another turn.
 * The same list where nothing is amiss.
 */
export function restoreTurnStart<M extends AnthropicMessage>(
  compacted: M[],
  messages: readonly M[],
  format: MessageParamFormat,
): M[] {
  const turn = messages.slice(messages.findLastIndex(isQuestion) + 1);
  const [start, answer] = turn;
  if (!startsWithReasoning(start) || start === undefined || answer === undefined) return compacted;

  const isFrom = (message: M | undefined, origin: M): boolean =>
    message !== undefined && isSameMessage(format.sourceOf(message), origin, format);
  const standing = new Array<M | undefined>(turn.length);
  let end = compacted.length;
  for (const [at, given] of [...turn.entries()].reverse()) {
    if (!isFrom(compacted[end - 1], given)) continue;
    end -= 1;
    standing[at] = compacted[end];
  }
  const first = standing.find((message) => message !== undefined);
  // When all of the turn is gone, there is nothing that would have to start in some way.
  if (first === undefined) return compacted;
  const before = compacted.slice(0, end);
  const lacksStart = first.role === 'assistant' && !startsWithReasoning(first);
  const comesBack = turn.map((_, at) => startsAnotherTurn(standing[at + 1], turn[at + 1]));
  // A summary within the turn may stand between its start and the rest.
  comesBack[0] ||= lacksStart && !before.some((message) => isFrom(message, start));
  if (!comesBack.includes(true)) return compacted;
  return [
    ...before,
    ...turn.flatMap((given, at) => {
      const isBack = comesBack[at] === true || comesBack[at - 1] === true;
      return isBack ? given : (standing[at] ?? []);
    }),
  ];
}

/** Whether the answers are gone from a message that says something besides. */
function startsAnotherTurn(
  standing: AnthropicMessage | undefined,
  given: AnthropicMessage | undefined,
): boolean {
  if (standing === undefined || given === undefined) return false;
  return isQuestion(standing) && !isQuestion(given);
}

function isSameMessage(
  a: AnthropicMessage,
  b: AnthropicMessage,
  format: MessageParamFormat,
): boolean {
  return a === b || (a.role === b.role && format.isSame(a, b));
}

function partsOf(message: AnthropicMessage | undefined): readonly MessagePart[] {
  const content: unknown = message?.content;
  return Array.isArray(content) ? content.filter(isMessagePart) : [];
}

/** Whether a message of the user's answers no call. */
function isQuestion(message: AnthropicMessage): boolean {
  return (
    message.role === 'user' && !partsOf(message).some((part) => answeredIdOf(part) !== undefined)
  );
}

/** What the server has compacted at a threshold leads a reply, before its reasoning. */
function startsWithReasoning(message: AnthropicMessage | undefined): boolean {
  const first = partsOf(message).find((part) => !isCompactionPart(part));
  return message?.role === 'assistant' && first !== undefined && isReasoning(first);
}
