// Derives the ids of conversations from what they begin with. Processes that share a store must derive the same ones.

import { createHash } from 'node:crypto';
import {
  isSameButForCacheMarks,
  textWithoutCacheMarks,
} from '../../adapters/format/cache-marks.js';
import { callsIn, isFromModel, isFromUser } from './apis.js';
import type { ApiName } from './apis.js';

/** What all requests of a conversation have in common. */
export interface ConversationKey {
  readonly scope: string;
  readonly api: ApiName;
  readonly name: string | undefined;
}

/** Returns the id of a conversation; conversations that begin alike have the same one. */
export function idOf(
  { scope, api, name }: ConversationKey,
  messages: readonly object[],
  isShared: boolean,
): string {
  const first = withoutMarks(firstOf(messages));
  // The scope is part of a shared id, so that no user can reach another one's conversation by repeating its messages.
  const parts = isShared
    ? [scope, api, name ?? null, first, answerTo(messages)]
    : [api, name ?? first];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${api}-${digest.slice(0, isShared ? 32 : 16)}`;
}

/** Whether two lists of one key have the same shared id. */
export function haveSharedId(known: readonly object[], messages: readonly object[]): boolean {
  return isSame(firstOf(known), firstOf(messages)) && answerTo(known) === answerTo(messages);
}

/** The message that identifies a conversation: the user's first message, or else the first message. */
export function firstOf(messages: readonly object[]): object | undefined {
  return messages.find(isFromUser) ?? messages[0];
}

export function isSame(a: object | undefined, b: object | undefined): boolean {
  return a === b || (b !== undefined && isSameButForCacheMarks(a, b));
}

/**
 * Tells a conversation from others with the same first message: the calls in the model's first answer, because hosts may leave out
 * its reasoning later, or else the answer. Empty before there is one.
 */
function answerTo(messages: readonly object[]): string {
  const start = messages.findIndex(isFromModel);
  if (start === -1) return '';
  const end = messages.findIndex((message, at) => at > start && !isFromModel(message));
  const answer = messages.slice(start, end === -1 ? undefined : end);
  const calls = answer.flatMap(callsIn);
  return (calls.length > 0 ? calls : answer.map(withoutMarks)).join('\n');
}

/** Agents set a cache mark on a message only as long as it is near the end. */
function withoutMarks(message: object | undefined): string {
  return textWithoutCacheMarks({ ...message });
}
