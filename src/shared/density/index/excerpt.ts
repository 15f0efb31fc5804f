// What is left of a long output that has grown old: its head, its tail, and how much stood between them.

/** UTF-16 units of the head and of the tail: the tail of an output tells how it ended. */
const HEAD_LENGTH = 160;
const TAIL_LENGTH = 320;
const MARK_END = ' left out of this old output …]';
/** No excerpt is longer. */
const MAX_LENGTH = 600;

/** About how many tokens an excerpt has. */
export const EXCERPT_TOKENS: number = MAX_LENGTH / 4;

/** Stand for a long text and for an excerpt where nothing else of them matters. No JSON, so that no tool returns them. */
const LONG_TEXT = 0n;
const OLD_EXCERPT = 1n;

/** Returns the first and the last lines of a text and a line that says what is gone; a short text as it is. */
export function excerptOf(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  const headEnd = lineEndBefore(text, HEAD_LENGTH);
  const tailStart = lineStartBehind(text, text.length - TAIL_LENGTH);
  const lines = countBreaks(text.slice(headEnd, tailStart));
  const amount = lines > 1 ? `${lines} lines` : `${tailStart - headEnd} characters`;
  return `${text.slice(0, headEnd)}\n[… ${amount}${MARK_END}\n${text.slice(tailStart)}`;
}

/** Whether a result is a text of which an excerpt would be another one. */
export function isExcerptible(result: unknown): boolean {
  return typeof result === 'string' ? result.length > MAX_LENGTH : result === LONG_TEXT;
}

/** Whether a result is an excerpt already. */
export function isExcerpt(result: unknown): boolean {
  if (typeof result !== 'string') return result === OLD_EXCERPT;
  return result.length <= MAX_LENGTH && result.includes(MARK_END);
}

/** Returns next to nothing that can be cut short when a result can, and is an excerpt when that is one. */
export function excerptStandIn(result: unknown): unknown {
  if (isExcerptible(result)) return LONG_TEXT;
  return isExcerpt(result) ? OLD_EXCERPT : '';
}

/** Where the last whole line within a length ends; in a line that is longer, where that length is reached. */
function lineEndBefore(text: string, length: number): number {
  const end = text.lastIndexOf('\n', length);
  return end > 0 ? end : wholeCharacter(text, length);
}

/** Where the first whole line from an index on starts; in a line that goes to the end, that index. */
function lineStartBehind(text: string, index: number): number {
  const end = text.indexOf('\n', index);
  return end === -1 || end === text.length - 1 ? wholeCharacter(text, index) : end + 1;
}

/** The same index, or the next one where it would cut a surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  const isCut =
    /^[\uDC00-\uDFFF]/.test(text.charAt(index)) && /^[\uD800-\uDBFF]/.test(text.charAt(index - 1));
  return isCut ? index + 1 : index;
}

function countBreaks(text: string): number {
  let breaks = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) breaks += 1;
  return breaks;
}
