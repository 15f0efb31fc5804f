// Makes data safe to put in a request: cleans text, and frames lines of JSON. Data cannot break out of its line, nor contain a
// delimiter of the frame, because the delimiter includes a nonce that is generated afterwards.

import { randomBytes } from 'node:crypto';
import { surrogateSafe } from '../../shared/shown-text.js';

/**
 * Control characters except tab and line feed, and characters that are invisible, reorder text or smuggle it: directional marks
 * and overrides, zero-width spaces, invisible operators, Unicode tags. Joiners stay: emoji and several scripts need them.
 */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+/gu;

/**
 * Returns the text without control characters and others that people cannot see but models read. Linear in length. Line ends
 * become line feeds, line and paragraph separators spaces, lone surrogates U+FFFD.
 */
export function cleanText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .replace(UNSEEN, '')
    .replace(/[\u2028\u2029]/g, ' ')
    .replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Returns the text on one line, at most `maxLength` UTF-16 units long. */
export function cleanLine(text: string, maxLength: number): string {
  const line = cleanText(text.slice(0, maxLength * 2))
    .replace(/[\t\n]/g, ' ')
    .trim();
  return line.length <= maxLength ? line : line.slice(0, surrogateSafe(line, maxLength));
}

/** The tag names of delimiters and of the answer's frame. */
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
