// A quote of a line leads to that line, however many others start the same.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quotePlaces } from '../../../../src/shared/density/index/quote-places.js';
import { Draft } from '../../../../src/shared/shrink/shrinker.js';
import { withoutRuns } from '../../../../src/shared/shrink/shown-before.js';
import { runs } from '../../../support/scale.js';

/** The note in place of lines from `first` on, which are the same lines of the same text. */
function noteOf(lines: readonly string[], first: number, end: number): string {
  const places = quotePlaces(lines.join('\n'));
  const source = { callId: 'c', name: 'make', placeOf: (line: number) => places[line] ?? 0 };
  const shown = Draft.ofLines(lines.slice(first, end));
  const run = { start: 0, end: end - first, sourceIndex: first, source };
  return withoutRuns(shown, [run])?.draft.text ?? '';
}

/** The lines that a reader finds by a note, which of them it means, and how much it quotes. */
function foundBy(note: string, lines: readonly string[]): readonly [number | undefined, string] {
  const [, which = '1', quote = ''] = /, from (?:the (\d+)\w\w )?"(.*)" …\]$/.exec(note) ?? [];
  const found = lines.flatMap((line, at) => {
    const words = line
      .replace(/^[^\p{L}\p{N}]*/u, '')
      .replaceAll('\t', ' ')
      .trimEnd();
    const isCut = quote.endsWith('…');
    const fits = isCut ? words.startsWith(quote.slice(0, -1)) : words === quote;
    return fits && words !== '' ? [at] : [];
  });
  return note.includes('from the ') || found.length <= 1
    ? [found[Number(which) - 1], quote]
    : [undefined, quote];
}

const FILE = '  File "/project/src/a/long/way/down/module.py", line ';

describe('quotePlaces', () => {
  it('quotes more of lines that start the same, and numbers those that are the same that far', () => {
    const alike = [`${FILE}10, in run`, `${FILE}20, in run`, `${FILE}20, in run`];
    const lines = alike.flatMap((line, at) => [line, `    call of ${'it '.repeat(60)}${at}`, '}']);
    expect([0, 3, 6, 1, 2].map((first) => noteOf(lines, first, 9).split(', from ')[1])).toEqual([
      '"File "/project/src/a/long/way/down/module.py", line 10, in run" …]',
      'the 1st "File "/project/src/a/long/way/down/module.py", line 20, in run" …]',
      'the 2nd "File "/project/src/a/long/way/down/module.py", line 20, in run" …]',
      'the 1st "call of it it it it it it it it it it it it it it it it it it i…" …]',
      'the 1st "File "/project/src/a/long/way/down/module.py", line 20, in run" …]',
    ]);
    const other = ['', '- only here, as no other one', ...lines];
    expect(noteOf(other, 0, 5)).toMatch(/, from "only here, as no other …" …\]$/);
  });

  it('leads to the line', () => {
    const seen = { long: 0, one: 0, which: 0 };
    const piece = fc.constantFrom('  ', '\t- ', 'word ', 'at src/', 'ü', '12:', '\u001b[1m', 'x');
    const line = fc
      .tuple(fc.nat(3), fc.array(piece, { maxLength: 5 }), fc.constantFrom(0, 9, 21, 40, 80))
      .map(([kind, pieces, length]) => `${pieces.join('')}${'abcd'.charAt(kind).repeat(length)}`);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, fc.nat(6)), { minLength: 1, maxLength: 30 }),
        fc.nat(),
        (pieces, from) => {
          const lines = pieces.flatMap(([said, times]) => [
            said,
            ...Array<string>(times).fill(said),
          ]);
          const first = from % lines.length;
          const note = noteOf(lines, first, lines.length);
          const plain = lines.map((each) => each.replaceAll('\u001b[1m', ''));
          if (!note.includes(', from ')) return;
          const [place, quote] = foundBy(note, plain);
          expect(place).toBe(
            plain.findIndex((each, at) => at >= first && /[\p{L}\p{N}]/u.test(each)),
          );
          seen.which += note.includes(', from the ') ? 1 : 0;
          if (quote.length > 24) seen.long += 1;
          else seen.one += 1;
        },
      ),
      { numRuns: runs(3_000) },
    );
    for (const times of Object.values(seen)) expect(times).toBeGreaterThan(0);
  });

  it('gives no number that is too high to count to, but still quotes the line', () => {
    const lines = Array.from({ length: 400 }, () => `the same ${'again '.repeat(40)}`);
    expect(noteOf(lines, 253, 400)).toContain(', from the 254th "the same again');
    expect(noteOf(lines, 254, 400)).toContain(', from "the same again again');
  });
});
