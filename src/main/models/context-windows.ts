// What models accept, by their names: a table with its source and date, and how a provider says it itself. Pure; remembers
// nothing. Names are matched from the first row on.

/**
 * The input tokens of a model's window, by a pattern of its plain name. Read on 2026-11-22 at the models overview of
 * platform.claude.com, the model pages of developers.openai.com, ai.google.dev and docs.x.ai, and models.dev for
 * what these no longer list. Where input and output have shares of their own, it is the input's.
 */
const CONTEXT_WINDOWS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/^claude-(?:fable|mythos)-5|^claude-opus-5|^claude-opus-4[-.][678]/, 1_000_000],
  [/^claude-sonnet-5|^claude-haiku-5[-.]5|^claude-sonnet-4[-.]6/, 1_000_000],
  [/^claude-/, 200_000],
  [/^gpt-5\.3-codex-spark/, 100_000],
  [/^gpt-5.*-chat-latest|^gpt-4o/, 128_000],
  [/^gpt-5\.4-(?:mini|nano)/, 272_000],
  [/^gpt-6|^gpt-5\.[456]/, 922_000],
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^o1|^o3|^o4-mini/, 200_000],
  [/^gemini-(?:4-argon|3|2\.[05])/, 1_048_576],
  [/^grok-4\.[56]/, 500_000],
  [/^grok-4\.(?:3|20)/, 1_000_000],
  [/^grok-build/, 256_000],
];

/** What stands in front of a name on the way through a cloud or a gateway: `us.anthropic.`, `openai/`, `models/`. */
const ROUTE = /^(?:[a-z-]+\.){1,3}(?=(?:claude|gpt|gemini|grok)-)/;
const MAX_NAME = 500;

/** Returns the input tokens that a model of this name accepts, or `undefined` for one that the table does not have. */
export function contextWindowOf(modelName: string): number | undefined {
  const path = modelName.slice(0, MAX_NAME).toLowerCase();
  const plain = path.slice(path.lastIndexOf('/') + 1).replace(ROUTE, '');
  return CONTEXT_WINDOWS.find(([pattern]) => pattern.test(plain))?.[1];
}

/** How providers refuse a prompt that is too long, where they say the limit: it is what the group holds. */
const REFUSALS: readonly RegExp[] = [
  // Anthropic: `prompt is too long: 208310 tokens > 200000 maximum`
  /prompt is too long: \d+ tokens > (\d+) maximum/i,
  // Anthropic, with the answer's share: `input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000`
  /exceed context limit: \d+ \+ \d+ > (\d+)/i,
  // OpenAI, vLLM: `This model's maximum context length is 128000 tokens. However, your messages resulted in …`
  /maximum context length (?:is|of) (\d+)/i,
  // Gemini: `The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).`
  /input token count.{0,40}exceeds the maximum number of tokens allowed \(?(\d+)/i,
  // xAI: `This model's maximum prompt length is 131072 but the request contains 140000 tokens.`
  /maximum prompt length is (\d+)/i,
  // llama.cpp: `the request exceeds the available context size (8192 tokens)`
  /available context size \(?(\d+)/i,
];

/** Texts are not read further: the limit stands near the start of what a provider says. */
const MAX_TEXT = 20_000;
const MAX_CAUSES = 5;
const MIN_LIMIT = 256;

/**
 * Returns the limit that a provider named when it refused a prompt as too long; `undefined` for what is no such
 * refusal, or names none.
 *
 * @param thrown what a call of a model has thrown, or what it has answered as text
 */
export function refusedLimit(thrown: unknown): number | undefined {
  for (const text of textsOf(thrown)) {
    for (const refusal of REFUSALS) {
      const limit = Number(
        refusal.exec(text.slice(0, MAX_TEXT).replaceAll(/(?<=\d),(?=\d{3})/g, ''))?.[1],
      );
      if (Number.isSafeInteger(limit) && limit >= MIN_LIMIT) return limit;
    }
  }
  return undefined;
}

/** What an error says, and those that caused it; SDKs keep what the provider said in a body. */
function textsOf(thrown: unknown): readonly string[] {
  const texts: string[] = [];
  let next = thrown;
  try {
    for (let depth = 0; depth < MAX_CAUSES && next !== undefined && next !== null; depth += 1) {
      if (typeof next === 'string') return [...texts, next];
      if (typeof next !== 'object') return texts;
      const { message, responseBody, cause, lastError } = next as Readonly<Record<string, unknown>>;
      for (const text of [message, responseBody]) if (typeof text === 'string') texts.push(text);
      next = cause ?? lastError;
    }
  } catch {
    // What cannot be read says nothing.
  }
  return texts;
}
