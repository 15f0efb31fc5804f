// Removes characters that people cannot see but models read. Linear in length.

/**
 * Control characters except tab and line feed, and characters that are invisible, reorder text or smuggle it: directional marks
 * and overrides, zero-width spaces, invisible operators, Unicode tags. Joiners stay: emoji and several scripts need them.
 */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+/gu;

/**
 * Returns the text without control and invisible characters. Line ends become line feeds, line and paragraph separators spaces,
 * lone surrogates U+FFFD.
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

/** Returns the nearest index at or before `index` that does not split a surrogate pair. */
export function surrogateSafe(text: string, index: number): number {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  const isSplit = before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
  return isSplit ? index - 1 : index;
}
