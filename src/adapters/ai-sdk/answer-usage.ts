// Reads the usage in answers of a language model of AI SDK 6 and 7, streamed or not.

import { asRecord } from '../../shared/json.js';
import type { CompactCall } from '../adapter-options.js';
import { reportedUsage } from '../call-arguments.js';
import { hasServerCalls } from '../provider-usage.js';

/**
 * Returns an answer whose usage is passed on once it is known: the same answer, or one whose stream is read on its way.
 */
export function passingUsage<Answer>(answer: Answer, pass: (usage: CompactCall) => void): Answer {
  const { usage, content, stream } = asRecord(answer) ?? {};
  if (!(stream instanceof ReadableStream)) {
    pass(usageOf(usage, content));
    return answer;
  }
  const parts: unknown[] = [];
  const reading = new TransformStream<unknown, unknown>({
    transform: (part, controller) => {
      const { type, providerExecuted, usage: reported } = asRecord(part) ?? {};
      if (providerExecuted === true) parts.push(part);
      if (type === 'finish') pass(usageOf(reported, parts));
      controller.enqueue(part);
    },
  });
  return { ...answer, stream: stream.pipeThrough(reading) };
}

function usageOf(usage: unknown, parts: unknown): CompactCall {
  if (hasServerCalls(parts)) return {};
  const { inputTokens, cachedInputTokens } = asRecord(usage) ?? {};
  const input = asRecord(inputTokens);
  return input === undefined
    ? reportedUsage(inputTokens, cachedInputTokens, undefined)
    : reportedUsage(input['total'], input['cacheRead'], input['cacheWrite']);
}
