// What models accept, by name: context limits (configured, named by the provider, given by the host, from a table, or a
// conservative guess), and their rules for reasoning.

import { CtxfoldError } from '../../shared/errors.js';
import { askHost } from '../host/ask-host.js';
import type { Logger } from '../host/logger.js';
import { plainModelName } from './model-name.js';

/** The context limit assumed for an unknown model. */
export const UNKNOWN_CONTEXT_LIMIT = 128_000;

/** Bounds the memory for model names, which may come from untrusted requests. */
const MAX_MODELS = 1_000;

/** One limit in tokens for all models, or the host's function that returns the limit of a model by name. */
export type ContextLimit = number | ((modelName: string) => number | undefined);

/** The context limits of one compactor's models. */
export class ModelLimits {
  readonly #given: ContextLimit | undefined;
  /** Whether limits come from the host's function, whose answer may change between calls, so that it must not be cached. */
  readonly isAsked: boolean;
  /** How many times a limit was learned; tells callers when a cached limit is outdated. */
  timesLearned = 0;
  readonly #logger: Logger;
  readonly #learned = new Map<string, number>();
  readonly #warned = new Set<string | undefined>();
  #hasWarnedOfHost = false;
  #isAsking = false;

  /** @param given the host's option @default looked up by model */
  constructor(given: ContextLimit | undefined, logger: Logger) {
    this.#given = given;
    this.isAsked = typeof given === 'function';
    this.#logger = logger;
  }

  /** The limits that providers named, in tokens, by model. */
  get learned(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#learned);
  }

  /**
   * Returns how many tokens a model may be sent: what the host says, but no more than the provider named; else the model's window.
   * Warns once per unknown model, and once for calls that name no model.
   */
  limitOf(modelName: string | undefined): number {
    const own = this.#hostLimit(modelName);
    const learned = modelName === undefined ? undefined : this.#learned.get(modelName);
    if (own !== undefined) return Math.min(own, learned ?? Infinity);
    const known = learned ?? (modelName === undefined ? undefined : contextWindowOf(modelName));
    if (known === undefined) this.#warn(modelName);
    return known ?? UNKNOWN_CONTEXT_LIMIT;
  }

  /**
   * Learns a model's limit from the error of a model call.
   *
   * @returns the limit that the provider named, or `undefined` if the error names none
   */
  learn(thrown: unknown, modelName: string | undefined): number | undefined {
    const limit = refusedLength(thrown)?.limit;
    if (limit === undefined || modelName === undefined) return limit;
    if (this.#learned.get(modelName) === limit) return limit;
    if (this.#learned.size >= MAX_MODELS) this.#learned.clear();
    this.#learned.set(modelName, limit);
    this.timesLearned += 1;
    this.#logger.warn('the provider has named the context limit of a model', { modelName, limit });
    return limit;
  }

  /**
   * The host's number, or its function's. A throw or an invalid answer counts as no answer, so that the turn continues; the logger
   * is told once, because a turn asks several times.
   */
  #hostLimit(modelName: string | undefined): number | undefined {
    const ask = this.#given;
    if (typeof ask !== 'function') return ask;
    // A function that changes a session asks for its own answer.
    if (modelName === undefined || this.#isAsking) return undefined;
    const failed = (message: string, options?: ErrorOptions): Error =>
      new CtxfoldError(message, 'CALLBACK_FAILED', options);
    this.#isAsking = true;
    try {
      const answer = (): unknown => ask(modelName);
      return (
        askHost('contextLimit', 'a number of tokens', answer, failed, limitAnswered) ?? undefined
      );
    } catch (error) {
      if (!this.#hasWarnedOfHost) {
        this.#logger.warn('contextLimit gave no limit; that of the model applies', { error });
      }
      this.#hasWarnedOfHost = true;
      return undefined;
    } finally {
      this.#isAsking = false;
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

/** Reads what the host's function returned: `null` if it knows no limit, `undefined` if the answer is invalid. */
function limitAnswered(answer: unknown): number | null | undefined {
  if (answer === undefined) return null;
  return Number.isSafeInteger(answer) && Number(answer) > 0 ? Number(answer) : undefined;
}

const BINDING =
  /claude-(?:fable|mythos)-5[-.][12](?!\d)|claude-(?:opus|sonnet|haiku)-5[-.]5(?!\d)|gpt-6\.2(?!\d)/;

/**
 * Whether a model binds reasoning to the messages before it: after an edit of these, the provider refuses the request or drops the
 * reasoning. Decided by name, whatever its route, as documented by Anthropic and OpenAI on 2026-11-22.
 */
export function bindsReasoning(modelName: string | undefined): boolean {
  return modelName !== undefined && BINDING.test(plainModelName(modelName));
}

/** Claude tokens per o200k token: recorded usage shows 1.41 to 1.44 for Opus 4.5, Sonnet 4.5 and Opus 4.6; 1.51 and 1.52 for two others. */
const TOKENS_OF_CLAUDE = 1.5;

/**
 * Returns the assumed number of a model's own tokens per o200k token, used until its provider reports usage. A process that serves a
 * single request never sees a report, and without this would take a full window of Claude for one that is two thirds full.
 */
export function usualTokenRatio(modelName: string | undefined): number {
  return plainModelName(modelName ?? '').startsWith('claude-') ? TOKENS_OF_CLAUDE : 1;
}

const WITH_BUDGET = /^claude-(?:opus|sonnet|haiku)-(?:3|4(?:-[0156])?(?!-?\d(?!\d)))/;

/**
 * Whether a model may think with a token budget, as Claude did up to 4.6. Such a model refuses a turn that does not start with
 * thinking, but accepts thinking after an edit of earlier messages.
 */
export function thinksWithBudget(modelName: string | undefined): boolean {
  return modelName !== undefined && WITH_BUDGET.test(plainModelName(modelName));
}

/**
 * The context window in input tokens, by a pattern of the model's plain name; the first match wins. Read on 2026-11-22 in the
 * models overview of platform.claude.com, the model pages of developers.openai.com, ai.google.dev and docs.x.ai, and on
 * models.dev for models that these no longer list. If input and output have separate limits, this is the input's.
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
  // The variants for images, speech and computer use have smaller windows, which are not listed.
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

/** Messages with which providers refuse a prompt that is too long and name the limit, which is the captured group. */
const NAMED_LIMITS: readonly RegExp[] = [
  // Anthropic: `prompt is too long: 208310 tokens > 200000 maximum`
  /prompt is too long: \d+ tokens > (\d+) maximum/i,
  // Anthropic, with the answer's share: `input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000`
  /exceed context limit: \d+ \+ \d+ > (\d+)/i,
  // OpenAI, vLLM: `This model's maximum context length is 128000 tokens. However, your messages resulted in …`, and behind proxies
  // `Input length (265330) exceeds model's maximum context length (262144).`
  /maximum context length (?:is |of |\()(\d+)/i,
  // Mistral: `Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length`
  /model with (\d+) maximum context length/i,
  // Gemini: `The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).`
  /input token count.{0,40}exceeds the maximum number of tokens allowed \(?(\d+)/i,
  // Vertex AI: `Unable to submit request because the input token count is 1050000 but model only supports up to 1048576.`
  /input token count is \d+ but model only supports up to (\d+)/i,
  // xAI: `This model's maximum prompt length is 131072 but the request contains 140000 tokens.`
  /maximum prompt length is (\d+)/i,
  // Kimi: `Your request exceeded model token limit: 262144 (requested: 270012)`
  /exceeded model token limit: (\d+)/i,
  // Qwen: `Range of input length should be [1, 129024]`
  /range of input length should be \[\d+, ?(\d+)\]/i,
  // llama.cpp: `the request exceeds the available context size (8192 tokens)`
  /available context size \(?(\d+)/i,
  // Together AI: `The input (210000 tokens) is longer than the model's context length (202752 tokens).`
  /longer than the model'?s context length \((\d+)/i,
  // Poolside: `Input length 140000 exceeds the maximum allowed input length of 131040 tokens.`
  /maximum allowed input length of (\d+)/i,
  // GitHub Models: `Request body too large for gpt-4o model. Max size: 8000 tokens.`
  /too large for .{1,80} model\. Max size: (\d+) tokens/i,
  // LM Studio: `the model is loaded with context length of only 4096 tokens`
  /context length of only (\d+)/i,
  // Copilot: `prompt token count of 130123 exceeds the limit of 128000`
  /token count of \d+ exceeds the limit of (\d+)/i,
];

/**
 * The same without a limit: OpenAI (`Your input exceeds the context window of this model`), Bedrock, Amazon's Nova, Anthropic, Groq, Z.ai,
 * LiteLLM, MiniMax, Ollama (`prompt too long; exceeded max context length by 4 tokens`), LM Studio.
 */
const UNNAMED_LIMIT =
  /exceeds the context window|context_length_exceeded|input is too long for|input tokens exceeds maximum length|prompt (?:is )?too long|reduce the length of the (?:messages|prompt|input)|prompt exceeds max length|context window exceed(?:ed|s limit)|greater than the context length/i;

/** OpenAI's refusal of a too long prompt inside a stream that has begun. Model text cannot match: its quotes are escaped in JSON. */
export const REFUSED_IN_STREAM: RegExp = /"code"\s*:\s*"context_length_exceeded"/;

/** Error texts are cut to this length, in UTF-16 units: the limit is named near the start of the message. */
const MAX_TEXT = 20_000;
const MAX_CAUSES = 5;
const MIN_LIMIT = 256;
/** A number larger than this multiple of the limit is not the length of the prompt. */
const MAX_EXCESS = 8;

/** What a provider says about a prompt that it refused as too long, in the model's own tokens. */
export interface RefusedLength {
  readonly limit?: number | undefined;
  /** The length of the prompt. */
  readonly tokens?: number | undefined;
}

/**
 * Returns what a provider said when it refused a prompt as too long, an empty object if it named no limit; `undefined` for other
 * errors.
 *
 * @param thrown what a model call threw, or the text of its response
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
        return { limit, tokens: promptTokensNear(text, found.index, limit) };
    }
  }
  return texts.some((text) => UNNAMED_LIMIT.test(text)) ? {} : undefined;
}

/** UTF-16 units before and after the named limit that are searched for the prompt's length: sentences of a refusal are shorter. */
const NEAR_CHARACTERS = 300;

/** Returns the prompt's tokens: the largest number near the limit that exceeds it, with `190000 + 20000` counted as their sum. */
function promptTokensNear(text: string, at: number, limit: number): number | undefined {
  const near = text
    .slice(Math.max(0, at - NEAR_CHARACTERS), at + NEAR_CHARACTERS)
    .replace(/(\d+) \+ (\d+)/, (_, one, other) => String(Number(one) + Number(other)));
  const numbers = Array.from(near.matchAll(/(?<![\w.])\d{3,9}(?![\w])/g), ([digits]) =>
    Number(digits),
  );
  const above = numbers.filter((number) => number > limit && number <= limit * MAX_EXCESS);
  return above.length > 0 ? Math.max(...above) : undefined;
}

/** The provider's wording when it refuses reasoning as bound to other messages. */
export const BOUND_REASONING = 'The block is bound to a different conversation';

/**
 * Whether a provider refused a request for a reason that compacting can remove: its length, or reasoning in it. Reasoning may be
 * refused in a request without an edit, too: that of a process that does not know of the edits of an earlier one.
 *
 * @param thrown as in `refusedLength`
 */
export function isFixableByCompacting(thrown: unknown): boolean {
  return refusesReasoning(thrown) || refusedLength(thrown) !== undefined;
}

/**
 * Whether a provider refused reasoning because it was generated after other messages than those it was now sent after. Matches the
 * first sentence only; a further one may name what changed.
 *
 * @param thrown what a model call threw, or the text of its response
 */
export function refusesReasoning(thrown: unknown): boolean {
  return textsOf(thrown).some((text) => text.includes(BOUND_REASONING));
}

/** Returns the texts of an error and its causes. SDKs keep the provider's message in the response body, or pass on its event. */
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
    // A getter of the error threw: use the texts read so far.
  }
  return texts;
}
