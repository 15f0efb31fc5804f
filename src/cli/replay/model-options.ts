// Resolves the options for the model that writes summaries: checks which must be given together, and reads the API key, which
// comes only from the environment and is never shown.

import { fromLanguageModel } from '../../index.js';
import { getCompressionStrategy } from '../../strategies.js';
import type { CompressionStrategyName } from '../../index.js';
import { isPlainUrl, PLAIN_URL, UsageError } from '../terminal/options.js';
import { createChatCompletionsModel } from './chat-completions-model.js';
import type { SummarizerSettings } from './replay-report.js';
import { SummarizerMeter } from './summarizer-meter.js';

/** Parsed options that name a model. */
export interface ModelNames {
  readonly baseUrl?: string;
  readonly model?: string;
  readonly apiKeyEnv?: string;
  readonly summarizerContextLimit?: number;
  readonly fallbackToTruncation?: boolean;
}

/** Parsed options that decide on the model. */
export interface ModelArguments extends ModelNames {
  readonly strategy: CompressionStrategyName;
  readonly contextLimit?: number | undefined;
}

/** The model that writes summaries, and what the report says about it. */
export interface PlayedSummarizer {
  /** Takes requests of one session at a time. */
  readonly summarizer: SummarizerMeter;
  readonly settings: SummarizerSettings;
}

/** Few retries and a short delay, because a user is waiting. */
const MAX_RETRIES = 2;
const RETRY_DELAY_MS = 500;

/** Returns the model that the options choose; `undefined` if the strategy needs none. @throws UsageError */
export function readSummarizer(
  given: ModelArguments,
  environment: Readonly<Record<string, string | undefined>>,
): PlayedSummarizer | undefined {
  if (!getCompressionStrategy(given.strategy).requiresLLM) {
    const useless = Object.entries(OPTIONS).flatMap(([key, option]) =>
      key in given ? option : [],
    );
    if (useless.length === 0) return undefined;
    throw new UsageError(
      `--strategy ${given.strategy} uses no model: drop ${useless.join(', ')}, or choose a strategy ` +
        'that does.',
    );
  }
  const { baseUrl, model } = given;
  if (baseUrl === undefined || model === undefined) {
    const missing = [
      ...(baseUrl === undefined ? ['--base-url <url>'] : []),
      ...(model === undefined ? ['--model <name>'] : []),
    ];
    throw new UsageError(
      `--strategy ${given.strategy} needs a model to write summaries: add ${missing.join(' and ')}.`,
    );
  }
  if (!isPlainUrl(baseUrl)) {
    throw new UsageError(`--base-url: expected ${PLAIN_URL}, such as http://localhost:11434/v1.`);
  }
  if (model.trim() === '') throw new UsageError('--model: expected a model name.');
  const settings = {
    baseUrl,
    model,
    contextLimit: given.summarizerContextLimit ?? given.contextLimit ?? UNKNOWN_CONTEXT_LIMIT,
    fallbackToTruncation: given.fallbackToTruncation ?? false,
  };
  const apiKey = readKey(given.apiKeyEnv, environment);
  const summarizer = fromLanguageModel(createChatCompletionsModel({ baseUrl, model, apiKey }), {
    contextLimit: settings.contextLimit,
    maxRetries: MAX_RETRIES,
    retryDelayMs: RETRY_DELAY_MS,
  });
  return { summarizer: new SummarizerMeter(summarizer), settings };
}

/** Context window to assume if none is given, in tokens. */
const UNKNOWN_CONTEXT_LIMIT = 128_000;

/** The options that name a model, as the user writes them. */
const OPTIONS: Readonly<Record<keyof ModelNames, string>> = {
  baseUrl: '--base-url',
  model: '--model',
  apiKeyEnv: '--api-key-env',
  summarizerContextLimit: '--summarizer-context-limit',
  fallbackToTruncation: '--fallback-to-truncation',
};

/** Reads the API key. Errors do not quote the option's value: it may be the key itself. */
function readKey(
  variable: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (variable === undefined) return undefined;
  const key = environment[variable]?.trim() ?? '';
  if (key === '') {
    throw new UsageError(
      '--api-key-env: no environment variable of that name is set, or it is empty. Give the name ' +
        'of the variable, not the key.',
    );
  }
  // Check the characters here: on an invalid header value, fetch would quote the key in its error.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError('--api-key-env: the variable has characters that no key can have.');
  }
  return key;
}
