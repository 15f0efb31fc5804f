// The URL paths of requests that carry the whole history.

/** Key of the list in the body → regex for the end of the path: of Chat Completions and Ollama's own API, and of the Responses API. */
export const HISTORY_PATHS: Readonly<Record<'messages' | 'input', RegExp>> = {
  messages: /\/(?:chat\/completions|api\/chat)\/?$/,
  input: /\/responses\/?$/,
};
