// Reads the token usage that providers report: Anthropic, OpenAI and compatible APIs, Google. Validates no number.

import { asArray, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { MAX_REASON_LENGTH } from '../../main/preflight/prompt-cache.js';
import type { CompactCall } from './adapter-options.js';
import { reportedSum, reportedUsage } from './call-arguments.js';

/** The token counts of one report; missing ones are absent. */
export interface UsageNumbers {
  /** All input tokens. */
  readonly total?: number | undefined;
  /** Input tokens neither read from the cache nor written to it. */
  readonly fresh?: number | undefined;
  readonly read?: number | undefined;
  readonly written?: number | undefined;
  readonly output?: number | undefined;
}

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
      // DeepSeek, Kimi
      number('prompt_cache_hit_tokens') ??
      number('cached_tokens') ??
      number('cachedContentTokenCount') ??
      number('cache_read_input_tokens'),
    written:
      number('cache_creation_input_tokens') ?? (details && number('cache_write_tokens', details)),
    output:
      number('output_tokens') ?? number('completion_tokens') ?? number('candidatesTokenCount'),
  };
}

/**
 * Whether parts of an answer include a call of a tool that the provider runs itself. The usage of such an answer is the sum over
 * several requests, so it says nothing about the size of one.
 */
export function hasServerCalls(parts: unknown): boolean {
  return asArray(parts).some((part) => {
    const { type, providerExecuted, call_id: callId } = asRecord(part) ?? {};
    if (providerExecuted === true) return true;
    if (typeof type !== 'string' || type === 'tool_use' || type === 'tool_call') return false;
    // OpenAI sets `call_id` only on calls that the client has to answer.
    return type.endsWith('tool_use') || (type.endsWith('_call') && callId === undefined);
  });
}

/**
 * Returns the usage in an answer of OpenAI's, Anthropic's or Google's API as arguments of the next call: `compact(items, { modelName,
 * ...reportedBy(response) })`; `{}` if it is not such an answer, or its usage is a sum because the provider ran tools.
 */
export function reportedBy(answer: unknown): CompactCall {
  const record = asRecord(answer);
  const usage = asRecord(record?.['usage']) ?? asRecord(record?.['usageMetadata']);
  if (usage === undefined || hasServerCalls(record?.['output'] ?? record?.['content'])) return {};
  const miss = asRecord(asRecord(record?.['diagnostics'])?.['cache_miss_reason']);
  const diagnostics = asRecord(record?.['prompt_cache_diagnostics']);
  const reason = asText(diagnostics?.['reason']) ?? asText(miss?.['type']);
  return reportedNumbers(usageNumbers(usage), reason);
}

/** Returns the numbers of one report as arguments of the next call. @param missReason why the provider's cache was missed, if it says so */
export function reportedNumbers(
  { total, fresh, read, written }: UsageNumbers,
  missReason: string | undefined,
): CompactCall {
  const reported =
    total === undefined ? reportedSum(fresh, read, written) : reportedUsage(total, read, written);
  const isShort = missReason !== undefined && missReason.length <= MAX_REASON_LENGTH;
  return isShort ? { ...reported, reportedCacheMissReason: missReason } : reported;
}
