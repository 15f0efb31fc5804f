// Parses what `doGenerate` of a Vercel AI SDK provider returns, in the shapes of specifications v2 (plain finish reason and
// token counts), v3 and v4 (objects for both).

import { SummarizerError } from '../../shared/errors.js';
import type { SummarizerFinishReason, SummarizerResponse, SummarizerUsage } from './summarizer.js';

const FINISH_REASONS: ReadonlySet<string> = new Set<SummarizerFinishReason>([
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'other',
  'unknown',
]);

/**
 * Parses an answer. Reasoning, files and sources are ignored.
 *
 * @throws SummarizerError `SUMMARIZER_FAILED` if it has none of the known shapes.
 */
export function readLanguageModelAnswer(answer: unknown): SummarizerResponse {
  const { content, finishReason, usage } = recordOf(answer);
  if (!Array.isArray(content)) {
    throw new SummarizerError(
      `The model's doGenerate returned an answer whose content is ${typeof content}; expected an array.`,
      'SUMMARIZER_FAILED',
    );
  }
  const parts = content.map(recordOf);
  const texts = parts.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  );
  return {
    text: texts.join(''),
    finishReason: readFinishReason(finishReason),
    usage: readUsage(recordOf(usage)),
    toolCalls: parts.filter(({ type }) => type === 'tool-call'),
  };
}

function readFinishReason(finishReason: unknown): SummarizerFinishReason {
  const reason =
    typeof finishReason === 'string' ? finishReason : recordOf(finishReason)['unified'];
  return isFinishReason(reason) ? reason : 'unknown';
}

function isFinishReason(reason: unknown): reason is SummarizerFinishReason {
  return typeof reason === 'string' && FINISH_REASONS.has(reason);
}

function readUsage({
  inputTokens,
  outputTokens,
}: Readonly<Record<string, unknown>>): SummarizerUsage {
  return { inputTokens: readCount(inputTokens), outputTokens: readCount(outputTokens) };
}

function readCount(count: unknown): number | undefined {
  const total = typeof count === 'number' ? count : recordOf(count)['total'];
  return typeof total === 'number' && total >= 0 ? total : undefined;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
