// Frames around data in a request. What is inside is lines of JSON, so it cannot start a line of its
// own; no text in it can spell a delimiter, because that holds a random word which is made afterwards.

import { randomBytes } from 'node:crypto';

/** The words that delimiters and the answer's own frame are made of. */
export const FRAME_WORDS = [
  'transcript',
  'previous_summary',
  'active_todos',
  'state_snapshot',
] as const;

export type FrameWord = (typeof FRAME_WORDS)[number];

/**
 * An angle bracket that begins something like one of our tags: at most eight characters come between,
 * none of them a letter, a digit or another bracket but as part of a JSON escape. Bounded, so linear.
 */
const FORGERY = new RegExp(
  `<(?=(?:[^\\p{L}\\p{N}<>]|\\\\[bfnrt]|\\\\u[0-9a-f]{4}){0,8}(?:${FRAME_WORDS.join('|')}))`,
  'giu',
);

/** A JSON string may say any character so; the text that it stands for stays the same. */
const ESCAPED_BRACKET = '\\u003c';

/** Returns JSON that means the same and holds nothing that looks like a tag of ours. */
export function disarmJson(json: string): string {
  return json.replace(FORGERY, ESCAPED_BRACKET);
}

/** Returns text in which what looks like a tag of ours begins with `&lt;` instead. */
export function disarmText(text: string): string {
  return text.replace(FORGERY, '&lt;');
}

/** Returns 24 hexadecimal digits that nobody can foresee. */
export function createNonce(): string {
  return randomBytes(12).toString('hex');
}

/**
 * Returns a frame around lines of JSON, each on a line of its own between two delimiters that hold the
 * nonce. The lines must have gone through `disarmJson` and hold no line feeds, as JSON does not.
 */
export function frame(word: FrameWord, nonce: string, lines: readonly string[]): string {
  const inside = lines.map((line) => line.replaceAll(nonce, '_'));
  return [`<${word}-${nonce}>`, ...inside, `</${word}-${nonce}>`].join('\n');
}
