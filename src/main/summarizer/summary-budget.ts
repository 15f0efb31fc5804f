// How much fits into one request to a summarizer, and how a long transcript is dealt out over several.

/** Share of the summarizer's window that a summary may take, and the most tokens it ever may. */
const OUTPUT_SHARE = 0.2;
const MAX_OUTPUT_TOKENS = 16_384;

/** Counts are made for another model's tokenizer: this much is left free for the difference. */
const SAFETY_SHARE = 0.1;

/** Less than this per request would take too many of them. */
const MIN_PIECE_TOKENS = 512;
export const MAX_PIECES = 64;

const MAX_PART_CHARACTERS = 8_192;

/** Words per token of English, rounded down: a limit that models understand better than tokens. */
const WORDS_PER_TOKEN = 0.6;
const MIN_WORDS = 100;

/** Sizes in tokens, unless they say otherwise. */
export interface SummaryBudget {
  readonly maxOutputTokens: number;
  /** Transcript that fits beside the summary of what came before. */
  readonly pieceTokens: number;
  /** Characters of one line, so that several fit into a piece. */
  readonly maxPartCharacters: number;
}

/** Tokens that an answer may have. */
export function maxOutputTokensOf(contextLimit: number): number {
  return Math.min(MAX_OUTPUT_TOKENS, Math.floor(contextLimit * OUTPUT_SHARE));
}

/**
 * Returns the budget of each request, or `undefined` when the window is too small for any.
 *
 * @param contextLimit tokens of the summarizer's window
 * @param fixedTokens tokens of what every request holds besides transcript and previous summary
 */
export function summaryBudget(
  contextLimit: number,
  fixedTokens: number,
): SummaryBudget | undefined {
  const maxOutputTokens = maxOutputTokensOf(contextLimit);
  const inputTokens = Math.floor((contextLimit - maxOutputTokens) * (1 - SAFETY_SHARE));
  // A summary that is handed on has at most the size of an answer.
  const pieceTokens = inputTokens - fixedTokens - maxOutputTokens;
  if (!(pieceTokens >= MIN_PIECE_TOKENS)) return undefined;
  const maxPartCharacters = Math.min(MAX_PART_CHARACTERS, Math.floor(pieceTokens / 4));
  return { maxOutputTokens, pieceTokens, maxPartCharacters };
}

/** Words that a summary should not exceed so that it has about `tokens`. */
export function wordsOf(tokens: number): number {
  return Math.max(MIN_WORDS, Math.floor(tokens * WORDS_PER_TOKEN));
}

/** Deals lines out in order to at least one piece, each of at most `pieceTokens` or of a single line. */
export function dealOut(
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
