// With a thinking budget, the assistant's current turn must start with its original reasoning. If an edit has removed a call
// that this depends on, the call is restored until the turn ends.

import { isCompactionPart } from '../provider-compaction.js';
import type { AnthropicMessage, MessageParamFormat } from './message-param-format.js';
import { answeredIdOf, isMessagePart, isReasoning } from './message-part.js';
import type { MessagePart } from './message-part.js';

/**
 * Returns compacted messages in which the current turn starts with its original reasoning. Restores its first call and the
 * answers if they were removed and later ones were not, and a call whose answers were removed next to a text
 * of the user, because that text alone would start another turn. Returns the same list if nothing must be restored.
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
  const remaining = new Array<M | undefined>(turn.length);
  let end = compacted.length;
  for (const [at, given] of [...turn.entries()].reverse()) {
    if (!isFrom(compacted[end - 1], given)) continue;
    end -= 1;
    remaining[at] = compacted[end];
  }
  const first = remaining.find((message) => message !== undefined);
  if (first === undefined) return compacted;
  const before = compacted.slice(0, end);
  const lacksStart = first.role === 'assistant' && !startsWithReasoning(first);
  const isCallRestored = turn.map((_, at) => startsAnotherTurn(remaining[at + 1], turn[at + 1]));
  // A summary within the turn may be between its start and the rest.
  isCallRestored[0] ||= lacksStart && !before.some((message) => isFrom(message, start));
  if (!isCallRestored.includes(true)) return compacted;
  return [
    ...before,
    ...turn.flatMap((given, at) => {
      // A call and its answers.
      const isRestored = isCallRestored[at] === true || isCallRestored[at - 1] === true;
      return isRestored ? given : (remaining[at] ?? []);
    }),
  ];
}

/** Whether the answers were removed from a message that has a text, too. */
function startsAnotherTurn(
  remaining: AnthropicMessage | undefined,
  given: AnthropicMessage | undefined,
): boolean {
  if (remaining === undefined || given === undefined) return false;
  return isQuestion(remaining) && !isQuestion(given);
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

/** Whether a user message answers no call. */
function isQuestion(message: AnthropicMessage): boolean {
  return (
    message.role === 'user' && !partsOf(message).some((part) => answeredIdOf(part) !== undefined)
  );
}

/** Ignores an automatic compaction, which precedes the reasoning of a reply. */
function startsWithReasoning(message: AnthropicMessage | undefined): boolean {
  const first = partsOf(message).find((part) => !isCompactionPart(part));
  return message?.role === 'assistant' && first !== undefined && isReasoning(first);
}
