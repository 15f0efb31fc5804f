// Summarizes a history of any length with a model: piece by piece, each request carrying the summary so far. Every answer is
// validated before it is used, here or in the next request.

import { createHash, hash } from 'node:crypto';
import { humanText } from '../../shared/content.js';
import type { IContent } from '../../shared/content.js';
import {
  CompressionExecutionError,
  isError,
  SummarizerError,
  SummaryRejectedError,
} from '../../shared/errors.js';
import { textOfEntry } from '../../shared/state/canonical-text.js';
import { withoutContent } from '../host/ask-host.js';
import type { Logger } from '../host/logger.js';
import { withDeadline } from '../waiting/abortable.js';
import { flattenHistory } from './flatten-history.js';
import { createNonce } from './frame.js';
import { DEFAULT_SUMMARIZER_TIMEOUT_MS, isSummarizer } from './summarizer.js';
import type { Summarizer, SummarizerRequest, SummarizerResponse } from './summarizer.js';
import { splitIntoPieces, MAX_PIECES, summaryBudget, wordsOf } from './summary-budget.js';
import type { SummaryBudget } from './summary-budget.js';
import { summaryPrompt } from './summary-request.js';
import type { SummaryRequest } from './summary-request.js';
import { readSummary } from './summary-response.js';
import type { ReadSummary } from './summary-response.js';
import type { Todo } from './todo.js';

export interface SummaryInput {
  /** For error messages. */
  readonly strategyName: string;
  readonly summarizer: Summarizer;
  /** See `CompressionContext`. */
  readonly version: string | undefined;
  /** The system prompt. If it asks for a `<state_snapshot>`, an answer without one is requested once more. */
  readonly system: string;
  readonly entries: readonly IContent[];
  /** The content of earlier summaries; empty if there are none. */
  readonly previousSummary: string;
  readonly todos: readonly Todo[];
  /** Tokens that the summary is asked not to exceed. */
  readonly targetTokens: number;
  /** Tokens of each text. */
  readonly countTexts: (texts: readonly string[]) => Promise<readonly number[]>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly signal: AbortSignal | undefined;
}

/** Timeout of the lookup of an earlier answer, in milliseconds: an answer that exists is returned at once. */
const LOOKUP_TIMEOUT_MS = 1_000;
const NO_ANSWER: SummarizerResponse = { text: '', finishReason: 'unknown' };

/** The frame that the bundled prompt asks for. */
const FRAME = '<state_snapshot>';

/** Tolerated excess over the requested tokens, since tokenizers differ. */
const MAX_OVERLENGTH = 1.5;

/** A text counts as at least one token per this many UTF-8 bytes, because counters by characters are far off for CJK. */
const BYTES_PER_TOKEN = 4;

/**
 * Returns the summary of the entries and of the previous summary.
 *
 * @throws SummaryRejectedError for an unfit answer; CompressionExecutionError if the summarizer failed or its window is too
 *   small; the signal's reason.
 */
export async function summarizeHistory(given: SummaryInput): Promise<string> {
  const input: Subject = { ...given, subject: given.version && subjectOf(given) };
  const { system, todos } = input;
  if (!isSummarizer(input.summarizer)) {
    throw new CompressionExecutionError(
      input.strategyName,
      'the summarizer is none: expected a generate function, a contextLimit and perhaps a timeoutMs above 0',
      { code: 'SUMMARIZER_FAILED' },
    );
  }
  const fixed = summaryPrompt({ ...NO_DATA, todos, nonce: createNonce() });
  const [systemTokens = 0, promptTokens = 0, previousTokens = 0] = await measure(input, [
    system,
    fixed,
    input.previousSummary,
  ]);
  const budget = summaryBudget(input.summarizer.contextLimit, systemTokens + promptTokens);
  if (budget === undefined) throw windowTooSmall(input, 'not even one piece of the history fits');

  const known = await lookUpAnswer(input, budget);
  if (known !== undefined) return known;
  // An oversized earlier summary is summarized like an entry.
  const isBounded = previousTokens <= budget.maxOutputTokens;
  const entries = isBounded
    ? input.entries
    : [humanText(input.previousSummary, { isSummary: true }), ...input.entries];
  const lines = flattenHistory(entries, budget.maxPartCharacters);
  const pieces = splitIntoPieces(lines, await measure(input, lines), budget.pieceTokens);
  if (pieces.length > MAX_PIECES) {
    throw windowTooSmall(input, `the history would take ${pieces.length} requests`);
  }

  let summary = isBounded ? input.previousSummary : '';
  for (const [index, piece] of pieces.entries()) {
    summary = await summarizePiece(input, budget, {
      lines: piece,
      previousSummary: summary,
      piece: index + 1,
      pieces: pieces.length,
    });
  }
  return summary;
}

const NO_DATA = { lines: [], previousSummary: '', piece: 1, pieces: 2, maxWords: 1 } as const;

type Piece = Pick<SummaryRequest, 'lines' | 'previousSummary' | 'piece' | 'pieces'>;

interface Subject extends SummaryInput {
  /** Hash of what is summarized, the same in every process; `undefined` if requests are not shared. */
  readonly subject: string | undefined;
}

function subjectOf({ version, system, entries, previousSummary }: SummaryInput): string {
  const texts = createHash('sha256');
  for (const entry of entries) texts.update(textOfEntry(entry));
  return idOf([version, system, previousSummary, texts.digest('hex')]);
}

/** Returns a one-piece summary that this or another process has requested before, if it is finished and fit. */
async function lookUpAnswer(
  input: Subject,
  { maxOutputTokens }: SummaryBudget,
): Promise<string | undefined> {
  const { summarizer, subject, system } = input;
  if (summarizer.answerTo === undefined || subject === undefined) return undefined;
  const id = idOf([subject]);
  const lookUp = async (): Promise<unknown> => (await summarizer.answerTo?.(id)) ?? NO_ANSWER;
  const read = await answerOf(input, LOOKUP_TIMEOUT_MS, lookUp);
  // Ignore an unfit answer here: the regular request with the same id gets it again and handles it.
  if (!read.ok || (system.includes(FRAME) && !read.isFramed)) return undefined;
  const [tokens = 0] = await measure(input, [read.summary]);
  return tokens > maxOutputTokens * MAX_OVERLENGTH ? undefined : read.summary;
}

async function summarizePiece(
  input: Subject,
  { maxOutputTokens }: SummaryBudget,
  piece: Piece,
): Promise<string> {
  const { strategyName, todos, subject } = input;
  const maxWords = wordsOf(Math.min(input.targetTokens, maxOutputTokens));
  const prompt = summaryPrompt({ ...piece, todos, maxWords, nonce: createNonce() });
  const about = piece.pieces === 1 ? [subject] : [subject, piece];
  const read = await askForSnapshot(input, { prompt, maxOutputTokens, about });
  if (!read.ok) throw new SummaryRejectedError(strategyName, read.reason, read.message);
  const [tokens = 0] = await measure(input, [read.summary]);
  if (tokens > maxOutputTokens * MAX_OVERLENGTH) {
    const message = `the summary has ${tokens} tokens; ${maxOutputTokens} were allowed`;
    throw new SummaryRejectedError(strategyName, 'inflated', message);
  }
  return read.summary;
}

interface Question extends Pick<SummarizerRequest, 'prompt' | 'maxOutputTokens'> {
  /** What the request's id is derived from: what it asks about, not the wording of the prompt. */
  readonly about: readonly unknown[];
}

const REMINDER =
  'The answer to this before held no <state_snapshot>. Put the whole summary between <state_snapshot> and </state_snapshot>.';

/**
 * Small models forget the frame that the prompt asks for. They are reminded once. After that, a valid summary without the frame is
 * accepted, since otherwise the history would outgrow its window.
 */
async function askForSnapshot(input: Subject, question: Question): Promise<ReadSummary> {
  const { strategyName, system, logger } = input;
  const first = await ask(input, question);
  if (!first.ok || first.isFramed || !system.includes(FRAME)) return first;
  const { prompt, about } = question;
  const reminder = { prompt: `${prompt}\n\n${REMINDER}`, about: [...about, REMINDER] };
  const again = await ask(input, { ...question, ...reminder });
  if (again.ok && again.isFramed) return again;
  logger.warn('the model wrote its summary without a <state_snapshot>; it is taken as it is', {
    strategyName,
  });
  return again.ok ? again : first;
}

function ask(input: Subject, { prompt, maxOutputTokens, about }: Question): Promise<ReadSummary> {
  const { summarizer, system, subject } = input;
  const { timeoutMs = DEFAULT_SUMMARIZER_TIMEOUT_MS } = summarizer;
  const id = subject && idOf(about);
  return answerOf(input, timeoutMs, (signal) =>
    summarizer.generate({ system, prompt, maxOutputTokens, signal, id }),
  );
}

/** Calls the summarizer and reads its answer. It may be custom code: it gets a deadline, and its errors are wrapped. */
async function answerOf(
  { signal, strategyName }: SummaryInput,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<unknown>,
): Promise<ReadSummary> {
  const timeoutError = (): Error =>
    new SummarizerError(
      `The summarizer gave no answer within ${timeoutMs} ms.`,
      'SUMMARIZER_TIMEOUT',
    );
  try {
    return await withDeadline(timeoutMs, signal, timeoutError, async (deadline) => {
      const response = await call(deadline);
      if (typeof response !== 'object' || response === null) {
        throw new SummarizerError(
          `The summarizer's generate returned ${typeof response}; expected an object.`,
          'SUMMARIZER_FAILED',
        );
      }
      // Read the response here, where errors are wrapped: an SDK's response may have getters that throw.
      return readSummary(response as SummarizerResponse);
    });
  } catch (thrown) {
    signal?.throwIfAborted();
    const error =
      isError(thrown) && thrown instanceof SummarizerError
        ? thrown
        : new SummarizerError('The summarizer failed.', 'SUMMARIZER_FAILED', {
            cause: withoutContent(thrown),
          });
    throw new CompressionExecutionError(strategyName, error.message, {
      code: error.code,
      cause: error,
    });
  }
}

function idOf(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts));
}

async function measure(input: SummaryInput, texts: readonly string[]): Promise<readonly number[]> {
  const counts = await input.countTexts(texts);
  input.signal?.throwIfAborted();
  return texts.map((text, at) =>
    Math.max(counts[at] ?? 0, Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)),
  );
}

function windowTooSmall(
  { strategyName, summarizer }: SummaryInput,
  why: string,
): CompressionExecutionError {
  return new CompressionExecutionError(
    strategyName,
    `the summarizer's window of ${summarizer.contextLimit} tokens is too small: ${why}. Use a ` +
      "model with a larger window, or 'high-density' or 'top-down-truncation', which ask none.",
    { code: 'SUMMARIZER_WINDOW_TOO_SMALL' },
  );
}
