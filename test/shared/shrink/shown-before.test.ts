// How results refer to lines that others show: the runs, the references, the mark, and line numbers.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  endOfNumber,
  isReference,
  lineNumberAt,
  markedAsShrunk,
  originalLength,
  partOfRun,
  sourceIdsOf,
  sourceOfAll,
  withoutMark,
  withoutRuns,
  withOthers,
} from '../../../src/shared/shrink/shown-before.js';
import type { ShownElsewhere } from '../../../src/shared/shrink/shown-before.js';
import { Draft } from '../../../src/shared/shrink/shrinker.js';
import { runs } from '../../support/scale.js';

const SOURCE = { callId: 'c1', name: 'read a.ts' };
const LINES = Array.from({ length: 40 }, (_, at) => `a line of the text, with the number ${at}`);

function run(start: number, end: number, callId = 'c1'): ShownElsewhere {
  return { start, end, source: { callId, name: callId } };
}

/** Disjoint ascending runs, from the lengths of gaps and runs. */
function anyRuns(name: string): fc.Arbitrary<readonly ShownElsewhere[]> {
  const sizes = fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 5 })), { maxLength: 5 });
  return sizes.map((all) => {
    let at = 0;
    return all.map(([gap, length]) => {
      at += gap + length;
      return { ...run(at - length, at, name), sourceNumber: 100 + at };
    });
  });
}

/** Which source each line has, and where there. */
function byLine(all: readonly ShownElsewhere[]): readonly (string | undefined)[] {
  const found: string[] = [];
  for (const { start, end, source, sourceNumber = 0 } of all) {
    for (let at = start; at < end; at += 1) {
      expect(found[at]).toBeUndefined();
      found[at] = `${source?.callId ?? ''}:${Number(sourceNumber) + at - start}`;
    }
  }
  return found;
}

describe('withOthers', () => {
  it('adds the lines that the first runs do not have, in order', () => {
    fc.assert(
      fc.property(anyRuns('a'), anyRuns('b'), (some, others) => {
        const all = withOthers(some, others);
        const [first, second] = [byLine(some), byLine(others)];
        const count = Math.max(first.length, second.length);
        const expected = Array.from({ length: count }, (_, at) => first[at] ?? second[at]);
        expect([...byLine(all)]).toEqual(expected);
        expect(all.map(({ start }) => start)).toEqual(
          all.map(({ start }) => start).toSorted((a, b) => a - b),
        );
        for (const each of all) expect(each.start).toBeLessThan(each.end);
        for (const each of some) expect(all).toContainEqual(each);
      }),
      { numRuns: runs(5_000) },
    );
  });

  it('leaves what a run does not have', () => {
    expect(partOfRun(run(2, 9), 4, 7)).toEqual([run(4, 7)]);
    expect(partOfRun({ ...run(2, 9), sourceNumber: null }, 4, 7)).toEqual([
      { ...run(4, 7), sourceNumber: null },
    ]);
    expect(partOfRun(run(2, 9), 9, 12)).toEqual([]);
  });
});

describe('sourceOfAll', () => {
  it('is the source of the only run, if that has all lines in their places', () => {
    const draft = Draft.ofLines(LINES);
    const whole = { start: 0, end: 40, source: SOURCE };
    expect(sourceOfAll(draft, [whole])).toBe(SOURCE);
    const others: readonly (readonly ShownElsewhere[])[] = [
      ...[[], [{ ...whole, source: null }], [{ ...whole, start: 1 }], [{ ...whole, end: 39 }]],
      ...[[{ ...whole, sourceNumber: null }], [whole, run(40, 41)]],
    ];
    for (const other of others) expect(sourceOfAll(draft, other)).toBeUndefined();
  });
});

describe('withoutRuns', () => {
  it('replaces runs that are long enough, and names at most eight sources', () => {
    const draft = Draft.ofLines(LINES);
    expect(withoutRuns(draft, [])).toBeUndefined();
    expect(withoutRuns(draft, [run(3, 6)])).toBeUndefined();
    const two = withoutRuns(draft, [
      run(3, 7, 'a'),
      run(10, 13, 'b'),
      { ...run(20, 24), source: null },
    ]);
    expect(two?.label).toBe('lines of earlier results (a)');
    expect(two?.draft.lines).toEqual([
      ...LINES.slice(0, 3),
      '[… 4 lines as in a …]',
      ...LINES.slice(7, 20),
      '[… 4 lines unchanged, as its call has them …]',
      ...LINES.slice(24),
    ]);
    const own = { start: 0, end: 9, source: null };
    expect(withoutRuns(draft, [own])?.label).toBe('lines of its call');
    expect(withoutRuns(draft, [own])?.draft.lines[0]).toBe(
      '[… 9 lines unchanged, as its call has them …]',
    );
    const many = Array.from({ length: 10 }, (_, at) => run(4 * at, 4 * at + 4, `c${at % 9}`));
    const { draft: left, label } = withoutRuns(draft, many) ?? {};
    expect(label).toContain('c6, c7)');
    expect(left?.lines.filter(isReference)).toHaveLength(9);
    expect(left?.lines).toHaveLength(9 + 4);
  });

  it('says where the lines are in the source', () => {
    const reference = (lines: readonly string[], where: Partial<ShownElsewhere>): string =>
      withoutRuns(Draft.ofLines(lines), [{ start: 0, end: 9, source: SOURCE, ...where }])?.draft
        .lines[0] ?? '';
    const numbered = LINES.map((line, at) => `${at + 5}\t${line}`);
    expect(reference(LINES, { sourceNumber: 7 })).toBe(
      '[… 9 lines as in read a.ts, there lines 7-15 …]',
    );
    expect(reference(numbered, { sourceNumber: null })).toBe(
      '[… lines 5-13 as in read a.ts, there without numbers …]',
    );
  });
});

describe('markedAsShrunk', () => {
  it('adds a mark that is read and removed again, unless too little is saved', () => {
    const text = 'x'.repeat(3_000);
    const marked = markedAsShrunk('left', text, ['lines of earlier results (a, b.1)'], ']') ?? '';
    expect(originalLength(marked)).toBe(3_000);
    expect(withoutMark(marked)).toBe('left');
    expect(sourceIdsOf(marked)).toBe('a b.1');
    for (const other of [text, `${text}]`, 'left', '']) {
      expect(originalLength(other)).toBeUndefined();
      expect(withoutMark(other)).toBe(other);
      expect(sourceIdsOf(other)).toBe('');
    }
    const mark = '\n[Shortened from 3000 characters: a]'.length;
    const left = (gain: number): string => 'y'.repeat(3_000 - mark - gain);
    expect(markedAsShrunk(left(90), text, ['a'], ']')).toBeDefined();
    expect(markedAsShrunk(left(89), text, ['a'], ']')).toBeUndefined();
  });

  it('reads the source of a result that is shown whole by another', () => {
    const whole = '[unchanged from the result of call-7; recall("b") for it]';
    expect(sourceIdsOf(whole)).toBe('call-7');
    for (const other of [`${whole}\n]`, whole.slice(1), `${whole}.`, { whole }, null]) {
      expect(sourceIdsOf(other)).toBe('');
    }
  });
});

describe('lineNumberAt', () => {
  it('reads the same numbers and ends as regular expressions', () => {
    const parts = fc.constantFrom(
      ...'   019',
      '/',
      ':',
      ';',
      '|',
      ' | ',
      '\t',
      '→',
      '1234567',
      'a',
    );
    const texts = fc.array(parts, { maxLength: 18 }).map((all) => all.join(''));
    const NUMBERED = /^ {0,12}(\d{1,9})(?:[\t→:|]| \| )/;
    fc.assert(
      fc.property(texts, fc.constantFrom('', 'x', '7'), (text, before) => {
        const [all, number] = NUMBERED.exec(text) ?? [];
        const at = before.length;
        expect(endOfNumber(before + text, at)).toBe(all === undefined ? -1 : at + all.length);
        expect(lineNumberAt(before + text, at)).toBe(Number(number));
      }),
      { numRuns: runs(5_000, 200) },
    );
    const padded = `${' '.repeat(12)}123456789`;
    expect(lineNumberAt(`${padded}\t`, 0)).toBe(123_456_789);
    for (const other of [` ${padded}\t`, `${padded}0\t`]) expect(lineNumberAt(other, 0)).toBeNaN();
  });
});
