// Validates an answer as a summary, and extracts it.

import { isBlank } from '../../shared/content.js';
import type { SummaryRejectionReason } from '../../shared/errors.js';
import { cleanText } from './frame.js';
import type { SummarizerResponse } from './summarizer.js';

/** A summary, or why the answer is unfit. `message` contains nothing of the answer. */
export type ReadSummary =
  | { readonly ok: true; readonly summary: string; readonly isFramed: boolean }
  | { readonly ok: false; readonly reason: SummaryRejectionReason; readonly message: string };

const OPEN = /<state_snapshot(?:\s[^<>]{0,200})?>/i;
const CLOSE = /<\/state_snapshot\s{0,8}>/gi;

/**
 * Validates an answer. If it is framed, only the text between `<state_snapshot>` and the last `</state_snapshot>` counts.
 * Linear in its length.
 */
export function readSummary(response: SummarizerResponse): ReadSummary {
  const { finishReason } = response;
  // OpenAI-compatible servers return `null` if there are no tool calls.
  const toolCalls: readonly unknown[] | null | undefined = response.toolCalls;
  if (finishReason === 'tool-calls' || (toolCalls ?? []).length > 0) {
    return rejected('tool-call', 'the model asked for a tool in place of a summary');
  }
  if (finishReason === 'length') {
    return rejected('cut-off', 'the summary was cut off at the limit of output tokens');
  }
  if (finishReason === 'content-filter' || finishReason === 'error') {
    return rejected('withheld', `the model ended with ${finishReason}`);
  }
  const text: unknown = response.text;
  if (typeof text !== 'string' || isBlank(text)) {
    return rejected('empty', 'the model returned an empty summary');
  }
  const answer = withoutReasoning(cleanText(text));
  const framed = unframed(answer);
  const summary = (framed ?? answer).trim();
  return isBlank(withoutTags(summary))
    ? rejected('empty', 'the model returned an empty summary')
    : { ok: true, summary, isFramed: framed !== undefined };
}

/** Removes reasoning in front of the answer, where servers without a reasoning parser put it. */
function withoutReasoning(answer: string): string {
  const text = answer.trimStart();
  if (!text.startsWith('<think>')) return text;
  const end = text.indexOf('</think>');
  return end === -1 ? text : text.slice(end + '</think>'.length);
}

function unframed(answer: string): string | undefined {
  const open = OPEN.exec(answer);
  if (open === null) return undefined;
  const start = open.index + open[0].length;
  let end = -1;
  for (const close of answer.matchAll(CLOSE)) end = close.index;
  return end < start ? undefined : answer.slice(start, end);
}

/** Removes tags and the word "none", so that a snapshot with only empty sections counts as empty. */
function withoutTags(text: string): string {
  return text.replace(/<\/?[a-z_]{1,64}>/gi, '').replace(/\bnone\b[.]?/gi, '');
}

function rejected(reason: SummaryRejectionReason, message: string): ReadSummary {
  return { ok: false, reason, message };
}
