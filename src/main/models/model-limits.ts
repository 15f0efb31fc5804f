// What models accept, by name: context limits (configured, named by the provider, given by the host, from a table, or a careful
// guess), and what they require of reasoning.

import { withoutContent } from '../host/ask-host.js';
import type { Logger } from '../host/logger.js';
import { plainModelName } from './model-name.js';

/** The context limit assumed for an unknown model. */
export const UNKNOWN_CONTEXT_LIMIT = 128_000;

/** Names may come from anywhere, so their number is bounded. */
const MAX_MODELS = 1_000;

/** A limit for all models, or the host's function of a model's name. */
export type ContextLimit = number | ((modelName: string) => number | undefined);

/** The context limits of one compactor's models. */
export class ModelLimits {
  readonly #given: ContextLimit | undefined;
  /** Whether the host's function says them, which may answer otherwise the next time. */
  readonly isAsked: boolean;
  /** How often a limit was learned. */
  timesLearned = 0;
  readonly #logger: Logger;
  readonly #learned = new Map<string, number>();
  readonly #warned = new Set<string | undefined>();

  /** @param given @default by model */
  constructor(given: ContextLimit | undefined, logger: Logger) {
    this.#given = given;
    this.isAsked = typeof given === 'function';
    this.#logger = logger;
  }

  /** Limits named by providers, by model. */
  get learned(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#learned);
  }

  /** Tokens that a model accepts. Warns once per unknown model, and once if none is named. */
  limitOf(modelName: string | undefined): number {
    if (typeof this.#given === 'number') return this.#given;
    const known =
      modelName === undefined
        ? undefined
        : (this.#learned.get(modelName) ?? this.#askHost(modelName) ?? contextWindowOf(modelName));
    if (known === undefined) this.#warn(modelName);
    return known ?? UNKNOWN_CONTEXT_LIMIT;
  }

  /**
   * Learns from what a model call threw.
   *
   * @returns the limit that the provider named, or `undefined` if it was something else
   */
  learn(thrown: unknown, modelName: string | undefined): number | undefined {
    const limit = refusedLength(thrown)?.limit;
    if (limit === undefined || modelName === undefined) return limit;
    if (this.#learned.size >= MAX_MODELS) this.#learned.clear();
    this.#learned.set(modelName, limit);
    this.timesLearned += 1;
    this.#logger.warn('the provider has named the context limit of a model', { modelName, limit });
    return limit;
  }

  /** A function that fails is ignored, so that the turn goes on. */
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

  #warn(modelName: string | undefined): void {
    if (this.#warned.has(modelName) || this.#warned.size >= MAX_MODELS) return;
    this.#warned.add(modelName);
    this.#logger.warn(
      modelName === undefined
        ? 'no model is named, so its context limit is not known; name it in each call, or give contextLimit to createCompactor'
        : 'the context limit of a model is not known; give contextLimit to createCompactor',
      { modelName, contextLimit: UNKNOWN_CONTEXT_LIMIT },
    );
  }
}

const BINDING =
  /claude-(?:fable|mythos)-5[-.][12](?!\d)|claude-(?:opus|sonnet|haiku)-5[-.]5(?!\d)|gpt-6\.2(?!\d)/;

/**
 * Whether a model binds reasoning to its prefix: after an edit in front of it, the request is refused or the reasoning dropped.
 * By name, with any route, as documented by Anthropic and OpenAI on 2026-11-22.
 */
export function bindsReasoning(modelName: string | undefined): boolean {
  return modelName !== undefined && BINDING.test(plainModelName(modelName));
}

/** Recorded usage of Opus and Sonnet 4.5 and Opus 4.6 shows 1.41 to 1.44, of two others 1.51 and 1.52. */
const TOKENS_OF_CLAUDE = 1.5;

/**
 * A model's own tokens per token of o200k, until its provider reports any: a process that serves one request never learns them, and
 * would take a window that is full for one of two thirds.
 */
export function usualTokenRatio(modelName: string | undefined): number {
  return plainModelName(modelName ?? '').startsWith('claude-') ? TOKENS_OF_CLAUDE : 1;
}

const WITH_BUDGET = /^claude-(?:opus|sonnet|haiku)-(?:3|4(?:-[0156])?(?!-?\d(?!\d)))/;

/**
 * Whether a model may think with a budget, as Claude did up to 4.6: then it refuses a turn that does not start with thinking. It
 * accepts thinking after an edit in front of it.
 */
export function thinksWithBudget(modelName: string | undefined): boolean {
  return modelName !== undefined && WITH_BUDGET.test(plainModelName(modelName));
}

/**
 * The input tokens of a model's window, by a pattern of its plain name; the first match counts. Read on 2026-11-22 in the
 * models overview of platform.claude.com, the model pages of developers.openai.com, ai.google.dev and docs.x.ai, and on
 * models.dev for models these no longer list. If input and output have separate limits, it is the input's.
 */
const CONTEXT_WINDOWS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/^claude-.*\[1m\]$/, 1_000_000],
  [/^claude-(?:fable|mythos)-5|^claude-opus-5|^claude-opus-4-[678]/, 1_000_000],
  [/^claude-sonnet-5|^claude-haiku-5-5|^claude-sonnet-4-6/, 1_000_000],
  [/^claude-/, 200_000],
  [/^gpt-5\.3-codex-spark/, 100_000],
  [/^gpt-5(?:\.\d+)?-chat|^gpt-4o/, 128_000],
  [/^gpt-5\.4-(?:mini|nano)/, 272_000],
  [/^gpt-6|^gpt-5\.[456]/, 922_000],
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^o1|^o3|^o4-mini/, 200_000],
  // The variants for pictures, speech and computers have smaller windows, which are not listed.
  [/^gemini-(?:4-argon|3|2\.[05])(?!.*-(?:image|tts|live|audio|computer-use))/, 1_048_576],
  [/^grok-4\.[56]/, 500_000],
  [/^grok-4\.(?:3|20)/, 1_000_000],
  [/^grok-build/, 256_000],
];

/** Returns the input tokens that a model accepts, or `undefined` if the table does not list it. */
export function contextWindowOf(modelName: string): number | undefined {
  const plain = plainModelName(modelName);
  return CONTEXT_WINDOWS.find(([pattern]) => pattern.test(plain))?.[1];
}

/** How providers refuse a prompt that is too long, if they name the limit: it is the group. */
const NAMED_LIMITS: readonly RegExp[] = [
  // Anthropic: `prompt is too long: 208310 tokens > 200000 maximum`
  /prompt is too long: \d+ tokens > (\d+) maximum/i,
  // Anthropic, with the answer's share: `input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000`
  /exceed context limit: \d+ \+ \d+ > (\d+)/i,
  // OpenAI, vLLM: `This model's maximum context length is 128000 tokens. However, your messages resulted in …`
  /maximum context length (?:is|of) (\d+)/i,
  // Mistral: `Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length`
  /model with (\d+) maximum context length/i,
  // Gemini: `The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).`
  /input token count.{0,40}exceeds the maximum number of tokens allowed \(?(\d+)/i,
  // xAI: `This model's maximum prompt length is 131072 but the request contains 140000 tokens.`
  /maximum prompt length is (\d+)/i,
  // Kimi: `Your request exceeded model token limit: 262144 (requested: 270012)`
  /exceeded model token limit: (\d+)/i,
  // Qwen: `Range of input length should be [1, 129024]`
  /range of input length should be \[\d+, ?(\d+)\]/i,
  // llama.cpp: `the request exceeds the available context size (8192 tokens)`
  /available context size \(?(\d+)/i,
  // GitHub Models: `Request body too large for gpt-4o model. Max size: 8000 tokens.`
  /too large for .{1,80} model\. Max size: (\d+) tokens/i,
  // LM Studio: `the model is loaded with context length of only 4096 tokens`
  /context length of only (\d+)/i,
  // Copilot: `prompt token count of 130123 exceeds the limit of 128000`
  /token count of \d+ exceeds the limit of (\d+)/i,
];

/** How they do if they name none: OpenAI (`Your input exceeds the context window of this model`), Bedrock, Anthropic, Groq, Z.ai. */
const UNNAMED_LIMIT =
  /exceeds the context window|context_length_exceeded|input is too long for|prompt is too long|reduce the length of the (?:messages|prompt|input)|prompt exceeds max length/i;

/** How OpenAI refuses a prompt that is too long once the stream of its answer has begun; within a text, the quotes would be escaped. */
export const REFUSED_IN_STREAM: RegExp = /"code"\s*:\s*"context_length_exceeded"/;

/** Longer texts are cut: the limit is near the start of the message. */
const MAX_TEXT = 20_000;
const MAX_CAUSES = 5;
const MIN_LIMIT = 256;
/** A number of more times the limit is something else. */
const MAX_EXCESS = 8;

/** A prompt that a provider refused as too long, as far as it says; in the model's own tokens. */
export interface RefusedLength {
  readonly limit?: number | undefined;
  /** Of the prompt. */
  readonly tokens?: number | undefined;
}

/**
 * Returns what a provider said when it refused a prompt as too long; `undefined` if it was something else.
 *
 * @param thrown what a model call threw, or the text it answered
 */
export function refusedLength(thrown: unknown): RefusedLength | undefined {
  const texts = textsOf(thrown).map((text) =>
    text.slice(0, MAX_TEXT).replaceAll(/(?<=\d),(?=\d{3})/g, ''),
  );
  for (const text of texts) {
    for (const pattern of NAMED_LIMITS) {
      const found = pattern.exec(text);
      const limit = Number(found?.[1]);
      if (found && Number.isSafeInteger(limit) && limit >= MIN_LIMIT)
        return { limit, tokens: tokensNear(text, found.index, limit) };
    }
  }
  return texts.some((text) => UNNAMED_LIMIT.test(text)) ? {} : undefined;
}

/** Sentences of a refusal are shorter. */
const NEAR_CHARACTERS = 300;

/** The prompt's tokens are the largest number beside the limit, and above it. */
function tokensNear(text: string, at: number, limit: number): number | undefined {
  const near = text
    .slice(Math.max(0, at - NEAR_CHARACTERS), at + NEAR_CHARACTERS)
    .replace(/(\d+) \+ (\d+)/, (_, one, other) => String(Number(one) + Number(other)));
  const numbers = Array.from(near.matchAll(/(?<![\w.])\d{3,9}(?![\w])/g), ([digits]) =>
    Number(digits),
  );
  const above = numbers.filter((number) => number > limit && number <= limit * MAX_EXCESS);
  return above.length > 0 ? Math.max(...above) : undefined;
}

/** Reasoning that a provider refuses as bound to other messages, in its words. */
export const BOUND_REASONING = 'The block is bound to a different conversation';

/**
 * Whether a provider refused a request for what compacting can change: its length, or reasoning in it.
 *
 * @param thrown as in `refusedLength`
 * @param isEdited whether compacting may have bound the reasoning to other messages: else the caller did @default true
 */
export function isMendable(thrown: unknown, isEdited: boolean = true): boolean {
  return (isEdited && refusesReasoning(thrown)) || refusedLength(thrown) !== undefined;
}

/**
 * Whether a provider refused reasoning as made from other messages than those that it was sent behind. A sentence that follows may
 * name what has changed.
 *
 * @param thrown what a model call threw, or the text it answered
 */
export function refusesReasoning(thrown: unknown): boolean {
  return textsOf(thrown).some((text) => text.includes(BOUND_REASONING));
}

/** The texts of an error and of what is in it; SDKs keep the provider's message in a body, or pass on its event. */
function textsOf(thrown: unknown): readonly string[] {
  const texts: string[] = [];
  let next = thrown;
  try {
    for (let depth = 0; depth < MAX_CAUSES && next !== undefined && next !== null; depth += 1) {
      if (typeof next === 'string') return [...texts, next];
      if (typeof next !== 'object') return texts;
      const { message, responseBody, cause, lastError, error, response } = next as Readonly<
        Record<string, unknown>
      >;
      for (const text of [message, responseBody]) if (typeof text === 'string') texts.push(text);
      next = cause ?? lastError ?? error ?? response;
    }
  } catch {
    // Unreadable errors have no text.
  }
  return texts;
}
