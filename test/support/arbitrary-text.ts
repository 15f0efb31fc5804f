// Random texts that trip token counters: characters of one script or all, marks, surrogates, contractions, and line ends and
// white space of every kind, in any order.

import fc from 'fast-check';

/** Ranges of similar code points. */
const RANGES: readonly (readonly [number, number])[] = [
  ...([
    [0x61, 0x7a],
    [0x41, 0x7a],
    [0x21, 0x2f],
    [0x09, 0x20],
    [0x30, 0x39],
  ] as const),
  ...([
    [0x80, 0xff],
    [0x1c4, 0x1cc],
    [0x2b0, 0x2ff],
    [0x300, 0x36f],
    [0x430, 0x44f],
  ] as const),
  ...([
    [0x660, 0x669],
    [0x85c, 0x8a0],
    [0xe01, 0xe2e],
    [0x1680, 0x1680],
    [0x2000, 0x202f],
  ] as const),
  ...([
    [0x3000, 0x3000],
    [0x4e00, 0x9fff],
    [0xa7c0, 0xa7ff],
    [0xac00, 0xd7a3],
  ] as const),
  ...([
    [0xd800, 0xdfff],
    [0xfeff, 0xfeff],
    [0x1f300, 0x1f6ff],
    [0x20000, 0x2a6df],
  ] as const),
  ...([
    [0, 0xffff],
    [0x10000, 0x10ffff],
  ] as const),
];

/** Texts at the word boundaries of encodings. */
const PARTS: readonly string[] = [
  ...["'s", "'S", "'ſ", "'ll", "'Ll", "'re", "'vE", "'t", "'M", "'d", "'", "'l", "'r", '’s'],
  ...['/', '//', '\r\n', '\n', '\r', ' ', '  ', '\t', '\u0085', '\u00a0', '\u2028', '\ufeff'],
  ...['\u0301', '\u0345', '\u200d', 'A', 'a', 'K', 'ſ', 'İ', 'ǅ', 'ʰ', 'ª', '\u0295', '漢', '²'],
  ...['1', '12345', '½', '٣', '😀', '🏳️‍🌈', '.', '(', '_', '==', '\u0000', '\ud800', '\udc00'],
  ...['word', ' word', 'Word', 'XMLHttp', 'iPhone', "don't", '<|endoftext|>', '    ', '\ufffd'],
];

const part = fc.constantFrom(...PARTS);
const characterOf = ([min, max]: readonly [number, number]): fc.Arbitrary<string> =>
  fc.integer({ min, max }).map((point) => String.fromCodePoint(point));
const character = fc.constantFrom(...RANGES).chain(characterOf);

/** Generates texts of at most `maxParts` parts or characters, mixed or of one kind. */
export function arbitraryText(maxParts: number): fc.Arbitrary<string> {
  const some = (one: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.array(one, { size: 'max', maxLength: maxParts }).map((parts) => parts.join(''));
  return fc.oneof(
    some(part),
    some(character),
    some(fc.oneof(part, character)),
    fc.constantFrom(...RANGES).chain((range) => some(characterOf(range))),
    fc.constantFrom(...RANGES).chain((range) => some(fc.oneof(part, characterOf(range)))),
  );
}
