// The APIs whose requests carry the whole history: their paths, where the messages are in a body, who wrote a message, and which
// requests must not be edited. Stateless.

import { HISTORY_LISTS, isHeld } from '../../adapters/format/history-lists.js';
import { asArray, asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';

/** The API of a request. */
export type ApiName = 'anthropic' | 'responses' | 'chat' | 'gemini' | 'code-assist';

/** One API. */
export interface Api {
  readonly name: ApiName;
  /** Matches the end of the path of requests to a model. */
  readonly path: RegExp;
  /** Matches the end of the path of requests that count the tokens of messages, or have the provider compact them. */
  readonly sideRequests?: RegExp;
  /** Keys that lead to the list of messages in a body. */
  readonly list: readonly [string, ...string[]];
  /** Returns why a request with tools must not be compacted, judged by its other fields and its last message; `undefined` if it may be. */
  readonly passes?: (fields: JsonRecord, last: unknown) => string | undefined;
}

/** A reason to pass on a request: its messages are only a part of the history. */
export const KEPT_HISTORY = 'the provider keeps the history';
const COMPACTION = 'a compaction by the provider';
const NO_TOOLS = 'a side call, without tools';
/** The same for a path of `sideRequests`. */
export const SIDE_REQUEST = 'a count or a compaction of other messages';

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** Paths of Claude at Google Cloud, except the similar one for counting tokens, and at Amazon Bedrock. */
const CLAUDE_AT_OTHERS =
  /\/publishers\/anthropic\/models\/(?!count-tokens:)[^/]+:(?:streamR|r)awPredict$|\/model\/[^/]*\banthropic\.[^/]+\/invoke(?:-with-response-stream)?$/;

/** All APIs. No path matches two of them. */
export const APIS: readonly Api[] = [
  {
    name: 'anthropic',
    path: new RegExp(`/messages/?$|${CLAUDE_AT_OTHERS.source}`),
    sideRequests: /\/messages\/count_tokens\/?$|\/anthropic\/models\/count-tokens:rawPredict$/,
    list: ['messages'],
    passes: (fields) => {
      if (isSet(fields['thread'])) return KEPT_HISTORY;
      return isSet(fields['compaction']) ? COMPACTION : undefined;
    },
  },
  {
    name: 'responses',
    path: HISTORY_LISTS.input.path,
    sideRequests: /\/responses\/(?:input_tokens|compact)\/?$/,
    list: ['input'],
    passes: (fields, last) => {
      if (isHeld(HISTORY_LISTS.input.heldBy, fields)) return KEPT_HISTORY;
      return asRecord(last)?.['type'] === 'compaction_trigger' ? COMPACTION : undefined;
    },
  },
  {
    name: 'chat',
    path: HISTORY_LISTS.messages.path,
    list: ['messages'],
  },
  {
    name: 'code-assist',
    path: /\/v1internal:(?:streamG|g)enerateContent$/,
    sideRequests: /\/v1internal:countTokens$/,
    list: ['request', 'contents'],
  },
  {
    name: 'gemini',
    path: HISTORY_LISTS.contents.path,
    sideRequests: /:countTokens$/,
    list: ['contents'],
    passes: (fields) => (isHeld(HISTORY_LISTS.contents.heldBy, fields) ? KEPT_HISTORY : undefined),
  },
];

/** Returns the API of a POST to this path; `undefined` for other requests. */
export function apiOfPath(path: string): Api | undefined {
  return APIS.find(
    ({ path: own, sideRequests }) => own.test(path) || sideRequests?.test(path) === true,
  );
}

export function apiNamed(name: ApiName): Api {
  return APIS.find((candidate) => candidate.name === name) as Api;
}

/** Returns why a request must not be compacted, judged by its other fields and its last message; `undefined` if it may be. */
export function reasonToPass(
  { passes }: Api,
  fields: JsonRecord,
  last: unknown,
): string | undefined {
  // The older Chat Completions API has functions in place of tools.
  const hasTools = [fields['tools'], fields['functions']].some((list) => asArray(list).length > 0);
  return passes?.(fields, last) ?? (hasTools ? undefined : NO_TOOLS);
}

/** Whether a message is the user's. The first such message identifies a conversation. */
export function isFromUser(message: unknown): boolean {
  if (!isRecord(message)) return false;
  const { role, parts } = message;
  return role === 'user' || (role === undefined && Array.isArray(parts));
}

/** Whether the model wrote a message; tool calls count. */
export function isFromModel(message: unknown): boolean {
  if (!isRecord(message)) return false;
  const role = asText(message['role']);
  if (role !== undefined) return role === 'assistant' || role === 'model';
  const kind = asText(message['type']);
  return kind !== undefined && !kind.endsWith('_output') && !kind.endsWith('_trigger');
}

/** Identifies the tool calls in a message, in order, by JSON of id, name and arguments. Omits calls without an id. */
export function callsIn(message: unknown): readonly string[] {
  const fields = asRecord(message) ?? {};
  const parts = ['tool_calls', 'content', 'parts'].flatMap((key) => asArray(fields[key]));
  return [message, ...parts].flatMap((part) => {
    const call = asRecord(asRecord(part)?.['functionCall'] ?? part) ?? {};
    const {
      id,
      call_id = id,
      name,
      function: named = name,
      input,
      arguments: given = input,
    } = call;
    const isCall = named !== undefined && typeof call_id === 'string';
    return isCall ? JSON.stringify([call_id, named, given]) : [];
  });
}
