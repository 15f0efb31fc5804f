// The last line of a result that was shrunk: what was taken, and how the original is had back. By it the result is known
// again, and left alone.

/** A result that would lose less than this stays as it is. In UTF-16 units, and as a share of it. */
const MIN_GAIN = 60;
const MIN_GAIN_SHARE = 0.03;

const MAX_MARK_LENGTH = 800;
const MARK_START = '[Shortened from ';
const MARK = /\n\[Shortened from \d+ characters: [^\n]{0,640}\]$/;

/** Whether a text is what was made of a result: it is left alone. */
export function isShrunk(text: string): boolean {
  return text.endsWith(']') && MARK.test(text.slice(-MAX_MARK_LENGTH));
}

/**
 * Returns what is left of a text with the line that says so; `undefined` when it is not worth it.
 *
 * @param took what was taken, in words
 * @param ending see `placeholderEnding`
 */
export function markedAsShrunk(
  left: string,
  text: string,
  took: readonly string[],
  ending: string,
): string | undefined {
  const marked = `${left}\n${MARK_START}${text.length} characters: ${took.join(', ')}${ending}`;
  const gain = text.length - marked.length;
  return gain >= Math.max(MIN_GAIN, MIN_GAIN_SHARE * text.length) ? marked : undefined;
}
