// What providers report of a request, in the words of each: Anthropic, OpenAI and whoever speaks like them, Google. Judges no number.

import { asRecord, asText } from '../shared/json.js';
import type { JsonRecord } from '../shared/json.js';
import { MAX_REASON_LENGTH } from '../main/preflight/prompt-cache.js';
import type { CompactCall } from './adapter-options.js';
import { reportedSum, reportedUsage } from './call-arguments.js';

/** The numbers of one report; those that it does not have are absent. */
export interface UsageNumbers {
  /** All of the input. */
  readonly total?: number | undefined;
  /** What of it no cache was asked for. */
  readonly fresh?: number | undefined;
  readonly read?: number | undefined;
  readonly written?: number | undefined;
  readonly output?: number | undefined;
}

/** Reads a report. */
export function usageNumbers(usage: JsonRecord): UsageNumbers {
  const details =
    asRecord(usage['prompt_tokens_details']) ?? asRecord(usage['input_tokens_details']);
  const number = (name: string, holder: JsonRecord = usage): number | undefined => {
    const value = holder[name];
    return typeof value === 'number' ? value : undefined;
  };
  const isResponses = asRecord(usage['input_tokens_details']) !== undefined;
  const input = number('input_tokens');
  return {
    total:
      number('prompt_tokens') ?? number('promptTokenCount') ?? (isResponses ? input : undefined),
    fresh: isResponses ? undefined : input,
    read:
      (details && number('cached_tokens', details)) ??
      number('prompt_cache_hit_tokens') ??
      number('cachedContentTokenCount') ??
      number('cache_read_input_tokens'),
    written:
      number('cache_creation_input_tokens') ?? (details && number('cache_write_tokens', details)),
    output:
      number('output_tokens') ?? number('completion_tokens') ?? number('candidatesTokenCount'),
  };
}

/**
 * Returns what an answer of OpenAI's or Google's API reports of its request, for the call with the next one:
 * `compact(items, { modelName, ...reportedBy(response) })`. Nothing of what is no answer.
 */
export function reportedBy(answer: unknown): CompactCall {
  const record = asRecord(answer);
  const usage = asRecord(record?.['usage']) ?? asRecord(record?.['usageMetadata']);
  if (usage === undefined) return {};
  const { total, fresh, read, written } = usageNumbers(usage);
  const reported =
    total === undefined ? reportedSum(fresh, read, written) : reportedUsage(total, read, written);
  const diagnostics = asRecord(record?.['prompt_cache_diagnostics']);
  const reason = asText(diagnostics?.['reason']);
  const isShort = reason !== undefined && reason.length <= MAX_REASON_LENGTH;
  return isShort ? { ...reported, reportedCacheMissReason: reason } : reported;
}
