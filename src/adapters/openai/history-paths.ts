// The paths of requests that carry the whole history.

/** Match the end of a path, by the key of the list in the body: of Chat Completions and Ollama's own API, and of the Responses API. */
export const HISTORY_PATHS: Readonly<Record<'messages' | 'input', RegExp>> = {
  messages: /\/(?:chat\/completions|api\/chat)\/?$/,
  input: /\/responses\/?$/,
};
