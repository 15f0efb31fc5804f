// The lists that carry a history in the bodies of requests: of which paths, and when they are only a part of it.

import type { JsonRecord } from '../../shared/json.js';

/** A list of messages in the body of requests. */
export interface HistoryList {
  /** Matches the end of the path of requests to a model. */
  readonly path: RegExp;
  /** Names of fields that refer to an earlier part of the history, which the provider keeps. */
  readonly heldBy: readonly string[];
}

/** Key of the list in the body → the list: of Chat Completions and Ollama's own API, of the Responses API, and of Gemini. */
export const HISTORY_LISTS: Readonly<Record<'messages' | 'input' | 'contents', HistoryList>> = {
  messages: { path: /\/(?:chat\/completions|api\/chat)\/?$/, heldBy: [] },
  input: { path: /\/responses\/?$/, heldBy: ['previous_response_id', 'conversation'] },
  contents: { path: /:(?:streamG|g)enerateContent$/, heldBy: ['cachedContent'] },
};

/** Whether the provider keeps a part of the history of a request with these fields. */
export function isHeld(heldBy: HistoryList['heldBy'], fields: JsonRecord): boolean {
  return heldBy.some((name) => Boolean(fields[name]));
}
