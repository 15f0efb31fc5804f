// From the options of the command line to the model that writes summaries: what must be given
// together, and the key, which is read from the environment alone and never shown.

import { fromLanguageModel } from '../../../index.js';
import { getCompressionStrategy } from '../../../strategies.js';
import type { CompressionStrategyName, Summarizer } from '../../../index.js';
import { createChatCompletionsModel } from './chat-completions-model.js';

/** The options about a model as the command line gives them. */
export interface ModelArguments {
  readonly strategy: CompressionStrategyName;
  readonly contextLimit?: number | undefined;
  readonly baseUrl?: string;
  readonly model?: string;
  readonly apiKeyEnv?: string;
  readonly summarizerContextLimit?: number;
  readonly fallbackToTruncation?: boolean;
}

/** A model that was chosen. */
export interface ModelChoice {
  readonly baseUrl: string;
  readonly model: string;
  /** Tokens of the model's own context window. */
  readonly contextLimit: number;
  readonly apiKey: string | undefined;
}

/** Reads the model that the options choose; `null` when the strategy needs none. @throws what `fail` throws. */
export function readModelChoice(
  given: ModelArguments,
  environment: Readonly<Record<string, string | undefined>>,
  fail: (message: string) => never,
): ModelChoice | null {
  if (!getCompressionStrategy(given.strategy).requiresLLM) {
    const useless = namesOf(given);
    if (useless.length === 0) return null;
    return fail(
      `--strategy ${given.strategy} asks no model: leave out ${useless.join(', ')}, or choose a ` +
        'strategy that does.',
    );
  }
  const { baseUrl, model } = given;
  if (baseUrl === undefined || model === undefined) {
    const missing = [
      ...(baseUrl === undefined ? ['--base-url <url>'] : []),
      ...(model === undefined ? ['--model <name>'] : []),
    ];
    return fail(
      `--strategy ${given.strategy} needs a model to write summaries: ${missing.join(' and ')} missing.`,
    );
  }
  if (!isPlainUrl(baseUrl)) {
    return fail(
      '--base-url: expected an http or https URL without credentials, query and fragment, such as ' +
        'http://localhost:11434/v1.',
    );
  }
  if (model.trim() === '') return fail('--model: expected the name of a model.');
  return {
    baseUrl,
    model,
    contextLimit: given.summarizerContextLimit ?? given.contextLimit ?? UNKNOWN_CONTEXT_LIMIT,
    apiKey: readKey(given.apiKeyEnv, environment, fail),
  };
}

/** What a model is taken to accept that writes summaries, when nobody says it. */
const UNKNOWN_CONTEXT_LIMIT = 128_000;

function namesOf(given: ModelArguments): readonly string[] {
  return [
    ...(given.baseUrl === undefined ? [] : ['--base-url']),
    ...(given.model === undefined ? [] : ['--model']),
    ...(given.apiKeyEnv === undefined ? [] : ['--api-key-env']),
    ...(given.summarizerContextLimit === undefined ? [] : ['--summarizer-context-limit']),
    ...(given.fallbackToTruncation === undefined ? [] : ['--fallback-to-truncation']),
  ];
}

/** Credentials and queries may hold secrets, and the URL is shown. */
function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  const isWeb = protocol === 'http:' || protocol === 'https:';
  return isWeb && username === '' && password === '' && !/[?#]/.test(text);
}

/** Says nothing of what was given: somebody may have given the key itself. */
function readKey(
  variable: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  fail: (message: string) => never,
): string | undefined {
  if (variable === undefined) return undefined;
  const key = environment[variable]?.trim() ?? '';
  if (key === '') {
    return fail(
      '--api-key-env: the environment has no variable of that name, or it is empty. Give the name ' +
        'of the variable that holds the key, not the key.',
    );
  }
  // What else stands in a header makes fetch quote it in an error.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return fail('--api-key-env: the variable holds characters that no key can have.');
  }
  return key;
}

/** Retries, and the wait before the first of them: somebody sits in front of the terminal. */
const MAX_RETRIES = 2;
const RETRY_DELAY_MS = 500;

/** Makes the summarizer of a choice. */
export function createSummarizer(choice: ModelChoice): Summarizer {
  return fromLanguageModel(createChatCompletionsModel(choice), {
    contextLimit: choice.contextLimit,
    maxRetries: MAX_RETRIES,
    retryDelayMs: RETRY_DELAY_MS,
  });
}
