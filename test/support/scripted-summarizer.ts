// A summarizer that answers as a test tells it to, and remembers what it was asked.

import type {
  Summarizer,
  SummarizerRequest,
  SummarizerResponse,
} from '../../src/main/summarizer/summarizer.js';

export interface ScriptedSummarizer extends Summarizer {
  readonly requests: readonly SummarizerRequest[];
}

/** What a scripted summarizer says: a text stands for an answer that ended well. */
export type ScriptedAnswer =
  | string
  | Partial<SummarizerResponse>
  | ((request: SummarizerRequest) => string | Promise<SummarizerResponse>);

/** Makes one that gives the answers one by one, the last one again and again. */
export function scriptedSummarizer(
  answers: ScriptedAnswer | readonly ScriptedAnswer[],
  options: Omit<Partial<Summarizer>, 'generate'> = {},
): ScriptedSummarizer {
  const script = Array.isArray(answers) ? (answers as readonly ScriptedAnswer[]) : undefined;
  const requests: SummarizerRequest[] = [];
  return {
    contextLimit: 128_000,
    ...options,
    requests,
    generate: async (request) => {
      const answer = script?.[Math.min(requests.length, script.length - 1)] ?? answers;
      requests.push(request);
      const said = typeof answer === 'function' ? await answer(request) : answer;
      return typeof said === 'string'
        ? { text: said, finishReason: 'stop' }
        : { text: '', finishReason: 'stop', ...(said as Partial<SummarizerResponse>) };
    },
  };
}

/** A snapshot that holds a text. */
export function snapshot(text: string): string {
  return `<state_snapshot>\n<overall_goal>${text}</overall_goal>\n</state_snapshot>`;
}
