// A summarizer that answers as a test scripts it, and records its requests.

import type {
  Summarizer,
  SummarizerRequest,
  SummarizerResponse,
} from '../../src/main/summarizer/summarizer.js';

export interface ScriptedSummarizer extends Summarizer {
  readonly requests: readonly SummarizerRequest[];
}

/** A scripted answer; a string is a complete one. */
export type ScriptedAnswer =
  | string
  | Partial<SummarizerResponse>
  | ((request: SummarizerRequest) => string | Promise<SummarizerResponse>);

/** Gives the answers in order and then repeats the last one. */
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

/** A snapshot with this text. */
export function snapshot(text: string): string {
  return `<state_snapshot>\n<overall_goal>${text}</overall_goal>\n</state_snapshot>`;
}
