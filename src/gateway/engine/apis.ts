// The APIs that carry a whole history in each request: where it stands, how a path names one, whose message is whose, and which
// requests are not for editing. Knows no conversation.

import { asArray, asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';

/** What a request speaks. */
export type ApiName = 'anthropic' | 'responses' | 'chat' | 'gemini' | 'code-assist';

/** One API. */
export interface Api {
  readonly name: ApiName;
  /** What paths of requests that a model answers end in. */
  readonly path: RegExp;
  /** Leads to the list of messages in a body. */
  readonly list: readonly string[];
  /** Says why the request is not for editing, by what stands beside and at the end of its messages. */
  readonly passes: (fields: JsonRecord, last: unknown) => string | undefined;
}

const SERVER_HELD = 'the provider keeps the history';
const NO_TOOLS = 'a side call, without tools';

const hasTools = (fields: JsonRecord): boolean => asArray(fields['tools']).length > 0;
const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** All of them. The path of a Chat Completion ends in no other's. */
export const APIS: readonly Api[] = [
  {
    name: 'anthropic',
    path: /\/messages\/?$/,
    list: ['messages'],
    passes: (fields) => {
      if (isSet(fields['thread'])) return SERVER_HELD;
      if (isSet(fields['compaction'])) return 'a compaction by the provider';
      return hasTools(fields) ? undefined : NO_TOOLS;
    },
  },
  {
    name: 'responses',
    path: /\/responses\/?$/,
    list: ['input'],
    passes: (fields, last) => {
      if (isSet(fields['previous_response_id']) || isSet(fields['conversation']))
        return SERVER_HELD;
      if (asRecord(last)?.['type'] === 'compaction_trigger') return 'a compaction by the provider';
      return hasTools(fields) ? undefined : NO_TOOLS;
    },
  },
  {
    name: 'chat',
    path: /\/chat\/completions\/?$/,
    list: ['messages'],
    passes: (fields) =>
      hasTools(fields) || asArray(fields['functions']).length > 0 ? undefined : NO_TOOLS,
  },
  {
    name: 'code-assist',
    path: /\/v1internal:(?:streamG|g)enerateContent$/,
    list: ['request', 'contents'],
    passes: (fields) => (hasTools(fields) ? undefined : NO_TOOLS),
  },
  {
    name: 'gemini',
    path: /:(?:streamG|g)enerateContent$/,
    list: ['contents'],
    passes: (fields) => {
      if (isSet(fields['cachedContent'])) return SERVER_HELD;
      return hasTools(fields) ? undefined : NO_TOOLS;
    },
  },
];

/** The API that a POST to a path speaks; `undefined` for any other request. */
export function apiOfPath(path: string): Api | undefined {
  return APIS.find((api) => api.path.test(path));
}

/** The API of that name. */
export function apiNamed(name: ApiName): Api {
  const api = APIS.find((candidate) => candidate.name === name);
  if (api === undefined) throw new RangeError(`Expected the name of an API, got '${name}'.`);
  return api;
}

/** Whether the user has written a message: the first one of these names a conversation. */
export function isFromUser(message: unknown): boolean {
  if (!isRecord(message)) return false;
  const { role, parts } = message;
  return role === 'user' || (role === undefined && Array.isArray(parts));
}

/** Whether a message is what the model answered, a call of a tool included. */
export function isFromModel(message: unknown): boolean {
  if (!isRecord(message)) return false;
  const role = asText(message['role']);
  if (role !== undefined) return role === 'assistant' || role === 'model';
  const kind = asText(message['type']);
  return kind !== undefined && !kind.endsWith('_output') && !kind.endsWith('_trigger');
}
