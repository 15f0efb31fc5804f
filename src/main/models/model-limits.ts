// How many tokens the models of a compactor accept: what the user says, what a provider has said, what the host knows, what the table has, else
// a careful guess. Decides nothing about histories.

import type { CompactorOptions } from '../compactor-options.js';
import type { Logger } from '../host/logger.js';
import { withoutContent } from '../host/ask-host.js';

/** What a model is taken to accept when nothing is known of it. */
export const UNKNOWN_CONTEXT_LIMIT = 128_000;

/** Models that are told apart: names may come from anywhere. */
const MAX_MODELS = 1_000;

/** The limits of one compactor's models. */
export class ModelLimits {
  readonly #given: CompactorOptions['contextLimit'];
  readonly #logger: Logger;
  readonly #learned = new Map<string, number>();
  readonly #warned = new Set<string>();

  /** @param given what the user says, for all models, or what a host knows of some @default by the model */
  constructor(given: CompactorOptions['contextLimit'], logger: Logger) {
    this.#given = given;
    this.#logger = logger;
  }

  /** What providers have said, by model. */
  get learned(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#learned);
  }

  /** Tokens that a model accepts. Warns once for each that is not known. */
  limitOf(modelName: string | undefined): number {
    if (typeof this.#given === 'number') return this.#given;
    if (modelName === undefined) return UNKNOWN_CONTEXT_LIMIT;
    const known =
      this.#learned.get(modelName) ?? this.#askHost(modelName) ?? contextWindowOf(modelName);
    if (known === undefined) this.#warn(modelName);
    return known ?? UNKNOWN_CONTEXT_LIMIT;
  }

  /**
   * Learns from what a call of a model has thrown.
   *
   * @returns the limit that the provider has named, or `undefined` when that was something else
   */
  learn(thrown: unknown, modelName: string | undefined): number | undefined {
    const limit = refusedLimit(thrown);
    if (limit === undefined || modelName === undefined) return limit;
    if (this.#learned.size >= MAX_MODELS) this.#learned.clear();
    this.#learned.set(modelName, limit);
    this.#logger.warn('the provider has named the context limit of a model', { modelName, limit });
    return limit;
  }

  /** A host that fails knows nothing: its turn goes on by what else is known. */
  #askHost(modelName: string): number | undefined {
    const ask = this.#given;
    if (typeof ask !== 'function') return undefined;
    try {
      const tokens: unknown = ask(modelName);
      return Number.isSafeInteger(tokens) && Number(tokens) > 0 ? Number(tokens) : undefined;
    } catch (thrown) {
      this.#logger.warn('contextLimit threw', { error: withoutContent(thrown) });
      return undefined;
    }
  }

  #warn(modelName: string): void {
    if (this.#warned.has(modelName) || this.#warned.size >= MAX_MODELS) return;
    this.#warned.add(modelName);
    this.#logger.warn(
      `the context limit of a model is not known; give contextLimit to createCompactor`,
      { modelName, contextLimit: UNKNOWN_CONTEXT_LIMIT },
    );
  }
}

const BINDING =
  /claude-(?:fable|mythos)-5[-.][12]|claude-(?:opus|sonnet|haiku)-5[-.]5|gpt-6\.2(?!\d)/i;

/** Longer names are cut before they are matched. */
const MAX_NAME = 500;

/** Whether a model of this name binds its reasoning, whatever route leads to it. */
export function bindsReasoning(modelName: string | undefined): boolean {
  return modelName !== undefined && BINDING.test(modelName.slice(0, MAX_NAME));
}

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
