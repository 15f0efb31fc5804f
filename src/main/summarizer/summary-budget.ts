// How much fits into one request to a summarizer, and how a long transcript is split into several.

/** Maximum share of the summarizer's window for a summary, and its absolute maximum in tokens. */
const OUTPUT_SHARE = 0.2;
const MAX_OUTPUT_TOKENS = 16_384;

/** Reserve: counts are made with another model's tokenizer. */
const SAFETY_SHARE = 0.1;

/** Smaller pieces would take too many requests. */
const MIN_PIECE_TOKENS = 512;
export const MAX_PIECES = 64;

const MAX_PART_CHARACTERS = 8_192;

/** Words per English token, rounded down: models understand a limit in words better. */
const WORDS_PER_TOKEN = 0.6;
const MIN_WORDS = 100;

/** Sizes in tokens, unless noted otherwise. */
export interface SummaryBudget {
  readonly maxOutputTokens: number;
  /** Transcript that fits beside the previous summary. */
  readonly pieceTokens: number;
  /** Maximum characters of one line, so that several fit into a piece. */
  readonly maxPartCharacters: number;
}

/**
 * Returns the budget of each request, or `undefined` if the window is too small.
 *
 * @param contextLimit tokens of the summarizer's window
 * @param fixedTokens tokens of every request besides transcript and previous summary
 */
export function summaryBudget(
  contextLimit: number,
  fixedTokens: number,
): SummaryBudget | undefined {
  const maxOutputTokens = Math.min(MAX_OUTPUT_TOKENS, Math.floor(contextLimit * OUTPUT_SHARE));
  const inputTokens = Math.floor((contextLimit - maxOutputTokens) * (1 - SAFETY_SHARE));
  // The previous summary is at most as long as an answer.
  const pieceTokens = inputTokens - fixedTokens - maxOutputTokens;
  if (!(pieceTokens >= MIN_PIECE_TOKENS)) return undefined;
  const maxPartCharacters = Math.min(MAX_PART_CHARACTERS, Math.floor(pieceTokens / 4));
  return { maxOutputTokens, pieceTokens, maxPartCharacters };
}

/** Word limit for a summary of about `tokens`. */
export function wordsOf(tokens: number): number {
  return Math.max(MIN_WORDS, Math.floor(tokens * WORDS_PER_TOKEN));
}

/** Splits lines in order into at least one piece, each of at most `pieceTokens` or a single line. */
export function splitIntoPieces(
  lines: readonly string[],
  tokens: readonly number[],
  pieceTokens: number,
): readonly (readonly string[])[] {
  let piece: string[] = [];
  let room = pieceTokens;
  const pieces = [piece];
  lines.forEach((line, at) => {
    const size = tokens[at] ?? 0;
    if (size > room && piece.length > 0) {
      piece = [];
      pieces.push(piece);
      room = pieceTokens;
    }
    piece.push(line);
    room -= size;
  });
  return pieces;
}
