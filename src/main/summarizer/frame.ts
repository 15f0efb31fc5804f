// Frames around data in a request. The content consists of lines of JSON, so it cannot start a line of its own; it cannot
// contain a delimiter either, because that includes a random word generated afterwards.

import { randomBytes } from 'node:crypto';

/** The names of delimiters and of the answer's frame. */
export const FRAME_WORDS = [
  'transcript',
  'previous_summary',
  'active_todos',
  'state_snapshot',
] as const;

export type FrameWord = (typeof FRAME_WORDS)[number];

/**
 * An angle bracket that might begin one of our tags: up to eight characters may come in between, none of them a letter, digit
 * or another bracket except as part of a JSON escape. Bounded, so linear.
 */
const FORGERY = new RegExp(
  `<(?=(?:[^\\p{L}\\p{N}<>]|\\\\[bfnrt]|\\\\u[0-9a-f]{4}){0,8}(?:${FRAME_WORDS.join('|')}))`,
  'giu',
);

/** A JSON string may escape any character; its value stays the same. */
const ESCAPED_BRACKET = '\\u003c';

/** Returns equivalent JSON without anything that looks like one of our tags. */
export function disarmJson(json: string): string {
  return json.replace(FORGERY, ESCAPED_BRACKET);
}

/** Returns the text with anything that looks like one of our tags starting with `&lt;`. */
export function disarmText(text: string): string {
  return text.replace(FORGERY, '&lt;');
}

/** Returns 24 random hexadecimal digits. */
export function createNonce(): string {
  return randomBytes(12).toString('hex');
}

/**
 * Returns a frame: the lines between two delimiters that contain the nonce. The lines must have passed `disarmJson` and contain
 * no line feeds, as JSON does not.
 */
export function frame(word: FrameWord, nonce: string, lines: readonly string[]): string {
  const inside = lines.map((line) => line.replaceAll(nonce, '_'));
  return [`<${word}-${nonce}>`, ...inside, `</${word}-${nonce}>`].join('\n');
}
