// UTF-8 of a part of a text, without an object per word. Nothing here knows of tokens.

/** The most bytes that UTF-8 takes for one UTF-16 unit. */
export const MAX_BYTES_PER_UNIT = 3;

const REPLACEMENT = 0xfffd;

/**
 * Writes the UTF-8 of `text` from `start` to before `end` into `bytes`, beginning at `at`, and returns
 * where it ends. Lone surrogates become U+FFFD, as the WHATWG's Encoding Standard has it. A
 * TextEncoder does the same, but a call of it takes longer than most words.
 */
export function writeUtf8(
  text: string,
  start: number,
  end: number,
  bytes: Uint8Array,
  at: number,
): number {
  let to = at;
  for (let from = start; from < end; from += 1) {
    const unit = text.charCodeAt(from);
    if (unit < 0x80) {
      bytes[to++] = unit;
    } else if (unit < 0x800) {
      bytes[to++] = 0xc0 | (unit >> 6);
      bytes[to++] = 0x80 | (unit & 0x3f);
    } else {
      const point = unit < 0xd800 || unit > 0xdfff ? unit : pointOf(text, from, end);
      if (point > 0xffff) {
        bytes[to++] = 0xf0 | (point >> 18);
        bytes[to++] = 0x80 | ((point >> 12) & 0x3f);
        from += 1;
      } else {
        bytes[to++] = 0xe0 | (point >> 12);
      }
      bytes[to++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[to++] = 0x80 | (point & 0x3f);
    }
  }
  return to;
}

/** The code point of the pair of surrogates at an index, or the one that replaces a lone one. */
function pointOf(text: string, at: number, end: number): number {
  const point = at + 1 < end ? (text.codePointAt(at) ?? 0) : 0;
  return point > 0xffff ? point : REPLACEMENT;
}
