// The function form of the adapter: messages of the Messages API in, messages out.

import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { Compactor } from '../../main/compactor.js';
import { plainModelName } from '../../main/models/model-name.js';
import { asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { findTurnStart } from '../../shared/turn-start.js';
import type { TurnStart } from '../../shared/turn-start.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { cacheTtlIn } from '../format/cache-marks.js';
import { reasoningOfModel } from '../request/claude-reasoning.js';
import { createMessageCompactor } from '../conversation/message-compactor.js';
import type { MessageCompactor } from '../conversation/message-compactor.js';
import type { MessageFormat } from '../format/message-format.js';
import { originalsOf } from '../format/originals.js';
import { isCompactionPart } from '../format/provider-compaction.js';
import { MESSAGE_PARAM_FORMAT } from './message-param-format.js';
import type { AnthropicMessage, MessagePart } from './message-part.js';
import { answeredIdOf, isMessagePart, isReasoning } from './message-part.js';

/** The format of messages whose reasoning follows Claude's rules. */
export const CLAUDE_FORMAT: MessageFormat<AnthropicMessage> = {
  ...MESSAGE_PARAM_FORMAT,
  reasoningOf: reasoningOfModel,
  completeTurn: restoreTurnStart,
};

/**
 * Returns a function that compacts the messages of a conversation for `messages.create`. It takes the
 * whole list each time and changes nothing in it; pass it your list, and send what it returns. Cache
 * breakpoints may move from call to call.
 *
 * By default, reasoning is removed from the first edit on, because newer models reject reasoning if something before it has
 * changed. For models up to Claude 4.5 reasoning is kept, if the call names the model; the model may change from call to call. With
 * `thinking: { type: 'enabled' }` for a newer model, or `drop_block` for prefix mismatches, set `reasoning: 'keep'`.
 *
 * @throws RangeError naming each invalid option.
 */
export function messageCompactor<Message extends AnthropicMessage = MessageParam>(
  compactor: Compactor,
  options: AdapterOptions = {},
): MessageCompactor<Message> {
  return createMessageCompactor<AnthropicMessage, Message>(compactor, CLAUDE_FORMAT, options);
}

/**
 * Returns the cache lifetime that a request asks for with its own cache mark, in milliseconds. Without such a mark, Claude caches
 * messages only up to marks in them, so the result is 0. Other models behind this API may cache by themselves: `undefined`.
 */
export function cacheTtlOfRequest({ cache_control: mark, model }: JsonRecord): number | undefined {
  const isClaude = plainModelName(asText(model) ?? '').startsWith('claude-');
  return cacheTtlIn({ cache_control: mark }) ?? (isClaude ? 0 : undefined);
}

/**
 * Returns compacted messages in which the current turn starts with its original reasoning, as the API requires with a thinking
 * budget. The session keeps that under `keep`, but a request under another policy may have removed it. Restores the first call of the
 * turn and its answers, if later messages of the turn are left. Also restores a call whose answers were removed while a text of the
 * user beside them stays, because that text alone would start another turn. If nothing is left in front of a restored call, the
 * question is restored, because the API wants a message of the user first. Returns the same list if the turn starts with reasoning.
 */
export function restoreTurnStart<M extends AnthropicMessage>(
  compacted: M[],
  messages: readonly M[],
): M[] {
  const sent = turnStartIn(compacted).start;
  if (sent === -1 || startsWithReasoning(compacted[sent])) return compacted;
  const { question: questionAt, start: startAt } = turnStartIn(messages);
  const question = messages[questionAt];
  const turn = startAt === -1 ? [] : messages.slice(startAt);
  const [start, answer] = turn;
  if (!startsWithReasoning(start) || start === undefined || answer === undefined) return compacted;

  const isFrom = (message: M | undefined, origin: M): boolean =>
    message !== undefined &&
    originalsOf<AnthropicMessage>(message).some((given) => isSameMessage(given, origin));
  const remaining = new Array<M | undefined>(turn.length);
  let end = compacted.length;
  for (const [at, given] of [...turn.entries()].reverse()) {
    if (!isFrom(compacted[end - 1], given)) continue;
    end -= 1;
    remaining[at] = compacted[end];
  }
  // By message of the turn, the index of the answer of the model that it belongs to: results may be spread over several messages.
  const callAt: number[] = [];
  for (const [at, { role }] of turn.entries())
    callAt.push(role === 'assistant' ? at : (callAt.at(-1) ?? 0));
  const restoredCalls = new Set<number>();
  const answeredCalls = new Set<number>();
  for (const [at, message] of remaining.entries()) {
    if (message?.role !== 'user') continue;
    (hasAnswers(message) ? answeredCalls : restoredCalls).add(callAt[at] ?? 0);
  }
  for (const call of answeredCalls) restoredCalls.delete(call);
  const firstAt = callAt.find((at) => restoredCalls.has(at) || remaining[at] !== undefined);
  if (firstAt === undefined) return compacted;
  const first = restoredCalls.has(firstAt) ? turn[firstAt] : remaining[firstAt];
  const before = compacted.slice(0, end);
  // A summary within the turn may stand between the start of the turn and the rest, so all earlier messages are searched for the start.
  if (!startsWithReasoning(first) && !before.some((message) => isFrom(message, start)))
    restoredCalls.add(0);
  if (restoredCalls.size === 0) return compacted;
  const restored = turn.flatMap((given, at) =>
    restoredCalls.has(callAt[at] ?? 0) ? given : (remaining[at] ?? []),
  );
  // The acknowledgement of a summary right before a restored answer would count as the start of the turn, so it is left out.
  const last = before.at(-1);
  const isWritten = last?.role === 'assistant' && !messages.some((given) => isFrom(last, given));
  if (isWritten) before.pop();
  if (before.length === 0 && question !== undefined) before.push(question);
  return [...before, ...restored];
}

function turnStartIn(messages: readonly AnthropicMessage[]): TurnStart {
  return findTurnStart(messages, (message) => {
    if (message.role === 'assistant') return 'answer';
    if (message.role !== 'user') return 'other';
    return hasAnswers(message) ? 'results' : 'words';
  });
}

function isSameMessage(a: AnthropicMessage, b: AnthropicMessage): boolean {
  return a === b || (a.role === b.role && MESSAGE_PARAM_FORMAT.isSame(a, b));
}

function partsOf(message: AnthropicMessage | undefined): readonly MessagePart[] {
  const content: unknown = message?.content;
  return Array.isArray(content) ? content.filter(isMessagePart) : [];
}

/** Allocates nothing, because it runs for all messages of a turn in each call. */
function hasAnswers({ content }: AnthropicMessage): boolean {
  return Array.isArray(content) && content.some(isAnswer);
}

function isAnswer(part: unknown): boolean {
  return isMessagePart(part) && answeredIdOf(part) !== undefined;
}

/** Whether an answer starts with reasoning. Ignores an automatic compaction, which precedes the reasoning. */
function startsWithReasoning(message: AnthropicMessage | undefined): boolean {
  const first = partsOf(message).find((part) => !isCompactionPart(part));
  return message?.role === 'assistant' && first !== undefined && isReasoning(first);
}
