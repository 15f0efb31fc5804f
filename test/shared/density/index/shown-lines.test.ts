// Which lines of a text other texts show; forgotten texts leave nothing behind.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownShingles } from '../../../../src/shared/density/index/shown-lines.js';
import type { ShownRun } from '../../../../src/shared/density/index/shown-lines.js';
import { linesOf, SHINGLE_LINES } from '../../../../src/shared/density/index/text-lines.js';
import { runs } from '../../../support/scale.js';

const LINES = 'the first line of three\nthe second line of three\nthe third line of three';
const OTHERS = LINES.replaceAll('three', 'the others');
const lines = linesOf(LINES);

describe('KnownShingles', () => {
  it('finds lines in the newest eligible text, in whatever order texts were noted', () => {
    const known = new KnownShingles();
    for (const text of [20, 10, 30]) known.note(text, lines);
    const rows = new Map([
      [30, 7],
      [10, 4],
      [20, 6],
    ]);
    const shown = (): number[] => known.shownIn(lines, rows).map(({ row }) => row);
    expect(shown()).toEqual([7]);
    known.move(30, 5);
    rows.delete(30);
    rows.set(5, 2);
    expect(shown()).toEqual([6]);
    known.forget(20);
    expect(shown()).toEqual([4]);
    rows.delete(10);
    expect(shown()).toEqual([2]);
    rows.clear();
    expect(shown()).toEqual([]);
  });

  it('knows how much is noted of the longest text, and finds the others when that is forgotten', () => {
    const known = new KnownShingles();
    known.note(1, linesOf(Array.from({ length: 9_000 }, (_, at) => `a line ${at}`).join('\n')));
    known.note(2, lines);
    expect(known.sizeOf(1)).toBe(Math.ceil(4_096 / SHINGLE_LINES));
    expect(known.sizeOf(2)).toBe(1);
    known.forget(1);
    expect(known.sizeOf(1)).toBeUndefined();
    expect(known.shownIn(lines, new Map([[2, 5]]))).toEqual([
      { start: 0, end: SHINGLE_LINES, row: 5 },
    ]);
  });

  it('splits a run where its lines do not follow each other in the other text', () => {
    const known = new KnownShingles();
    known.note(1, linesOf(`${LINES}\n${OTHERS}`));
    const turned = linesOf(`${OTHERS}\n${LINES}\n${OTHERS}`);
    expect(known.shownIn(turned, new Map([[1, 0]]))).toEqual([
      { start: 0, end: 3, row: 0 },
      { start: 3, end: 9, row: 0 },
    ]);
  });

  it('says of lines without numbers whether a reader would look for them elsewhere', () => {
    const known = new KnownShingles();
    known.note(1, linesOf(text(0, 60)));
    const found = (shown: string): readonly object[] =>
      known.shownIn(linesOf(shown), new Map([[1, 0]]));
    const other = text(100, 5);
    // At the start or the end, or following the previous run.
    expect(found(text(0, 9))).toEqual([{ start: 0, end: 9, row: 0 }]);
    expect(found(text(51, 9))).toEqual([{ start: 0, end: 9, row: 0 }]);
    expect(found(`${text(0, 9)}\n${other}\n${text(12, 9)}`)).toEqual([
      { start: 0, end: 9, row: 0 },
      { start: 14, end: 23, row: 0 },
    ]);
    // The whole text.
    expect(found(`${other}\n${text(0, 60)}\n${other}`)).toEqual([{ start: 5, end: 65, row: 0 }]);
    expect(found(text(20, 9))).toEqual([{ start: 0, end: 9, row: 0, isHardToFind: true }]);
    const [near, far] = [
      { start: 0, end: 9, row: 0 },
      { start: 0, end: 9, row: 0, isHardToFind: true },
    ];
    expect([3, 4, 47, 48].map((first) => found(text(first, 9))[0])).toEqual([near, far, far, near]);
    // Nearly the whole text.
    known.note(2, linesOf(text(200, 12)));
    const around = (shown: string): unknown =>
      known.shownIn(linesOf(`${text(100, 10)}\n${shown}\n${text(100, 10)}`), new Map([[2, 0]]));
    expect(around(text(202, 9))).toEqual([{ start: 10, end: 19, row: 0 }]);
    expect(around(text(202, 8))).toEqual([{ start: 10, end: 18, row: 0, isHardToFind: true }]);
    expect(found(`${text(0, 9)}\n${other}\n${text(40, 9)}`)).toEqual([
      { start: 0, end: 9, row: 0 },
      { start: 14, end: 23, row: 0, isHardToFind: true },
    ]);
  });

  it('supports more shingles than fit narrow rows, and after most are forgotten', () => {
    const known = new KnownShingles();
    const texts = Array.from({ length: 60 }, (_, at) => linesOf(text(at * 4_096, 4_096)));
    for (const [at, lines] of texts.entries()) known.note(at + 1, lines);
    expect(known.size).toBeGreaterThan(2 ** 16);
    const isKnown = (at: number): boolean =>
      known.shownIn(texts[at] ?? linesOf(''), new Map([[at + 1, 0]])).length > 0;
    expect(texts.map((_, at) => isKnown(at))).toEqual(texts.map(() => true));
    known.keep(new Set([1, 60]));
    expect(texts.flatMap((_, at) => (isKnown(at) ? [at] : []))).toEqual([0, 59]);
  });

  it('keeps nothing of forgotten texts', () => {
    const known = new KnownShingles();
    for (const text of [1, 2]) known.note(text, text === 2 ? linesOf(OTHERS) : lines);
    known.move(1, 3);
    known.keep(new Set([3]));
    const rows = new Map([1, 2, 3].map((text) => [text, 0]));
    expect(known.sizeOf(2)).toBeUndefined();
    expect(known.sizeOf(3)).toBe(1);
    expect(known.shownIn(linesOf(OTHERS), rows)).toEqual([]);
    expect(known.shownIn(lines, rows)).toHaveLength(1);
    known.keep(new Set());
    expect(known.size).toBe(0);
  });

  it('extends a run as far as possible, with the text that shows most of it', () => {
    const known = new KnownShingles();
    const part = text(0, 30);
    known.note(1, linesOf(`${text(100, 1)}\n${part}\n${text(200, 7)}`));
    known.note(2, linesOf(`${text(300, 2)}\n${text(0, 20)}`));
    known.note(3, linesOf(`${text(400, 5)}\n${part}`));
    const rows = new Map([1, 2, 3].map((number) => [number, number]));
    expect(known.shownIn(linesOf(`${text(500, 4)}\n${part}\n${text(600, 4)}`), rows)).toEqual([
      expect.objectContaining({ start: 4, end: 34 }),
    ]);
  });

  it.each([
    ['with other numbers', (line: string, at: number) => `${at + 40}\t${line}`, 40],
    ['with the same numbers', (line: string, at: number) => `  ${at + 7}→${line}`, undefined],
    ['without numbers', (line: string) => line, null],
  ])('finds lines %s', (_name, made, sourceNumber) => {
    const known = new KnownShingles();
    const numbered = (line: string, at: number): string => `${at + 7}→${line}`;
    const lines = text(0, 12).split('\n');
    known.note(1, linesOf(lines.map(made).join('\n')));
    const found = known.shownIn(linesOf(lines.map(numbered).join('\n')), new Map([[1, 5]]));
    expect(found).toEqual([
      { start: 0, end: 12, row: 5, ...(sourceNumber !== undefined && { sourceNumber }) },
    ]);
  });

  it.each([
    ['a colon, as grep -n does', (line: string, at: number) => `${at + 1}:${line}`],
    ['a colon and a space', (line: string, at: number) => `${at + 1}: ${line}`],
    ['a bar and a space', (line: string, at: number) => `0000${at + 1}| ${line}`],
  ])('finds lines whose numbers end with %s, including indented and empty ones', (_name, made) => {
    const indented = text(0, 9)
      .split('\n')
      .map((line, at) => (at % 3 === 0 ? '' : `${' '.repeat(4 * (at % 3))}${line}`));
    const known = new KnownShingles();
    known.note(1, linesOf(indented.join('\n')));
    const found = known.shownIn(linesOf(indented.map(made).join('\n')), new Map([[1, 5]]));
    expect(found).toEqual([{ start: 0, end: 9, row: 5, sourceNumber: null }]);
  });

  it('distinguishes lines with different indentation', () => {
    const plain = text(0, 9).split('\n');
    const known = new KnownShingles();
    known.note(1, linesOf(plain.join('\n')));
    for (const indent of ['  ', '    ', '\t']) {
      const other = plain.map((line, at) => `${at + 1}: ${indent}${line}`).join('\n');
      expect(known.shownIn(linesOf(other), new Map([[1, 5]]))).toEqual([]);
    }
  });

  it('compares lines without the carriage return at their end', () => {
    const known = new KnownShingles();
    known.note(1, linesOf(text(0, 9)));
    const returned = `${text(0, 9).replaceAll('\n', '\r\n')}\r\n\r`;
    expect(known.shownIn(linesOf(returned), new Map([[1, 5]]))).toMatchObject([
      { start: 0, end: 9, row: 5 },
    ]);
    expect(linesOf('\r\n').lines[0]).toBe(0);
  });

  it('splits a run where numbers restart', () => {
    const restarting = (line: string, at: number): string => `${at % 6}:${line}`;
    const lines = text(0, 12).split('\n');
    const numbered = linesOf(lines.map(restarting).join('\n'));
    const parts = [
      { start: 0, end: 6, row: 0 },
      { start: 6, end: 12, row: 0 },
    ];
    const known = new KnownShingles();
    known.note(1, numbered);
    const found = known.shownIn(linesOf(lines.join('\n')), new Map([[1, 0]]));
    expect(found).toEqual(parts.map((part) => ({ ...part, sourceNumber: 0 })));
    const bare = new KnownShingles();
    bare.note(1, linesOf(lines.join('\n')));
    expect(bare.shownIn(numbered, new Map([[1, 0]]))).toEqual(
      parts.map((part) => ({ ...part, sourceNumber: null })),
    );
  });

  it('ends a run at the end of a text, and starts one behind numbered lines', () => {
    const known = new KnownShingles();
    known.note(1, linesOf(text(0, 6)));
    known.note(2, linesOf(text(6, 6)));
    const rows = new Map([1, 2].map((number) => [number, number]));
    expect(known.shownIn(linesOf(text(0, 12)), rows)).toEqual([
      { start: 0, end: 6, row: 1 },
      { start: 6, end: 12, row: 2 },
    ]);
    const numbered = Array.from({ length: 4 }, (_, at) => `${at + 1}\tnumbered`).join('\n');
    expect(known.shownIn(linesOf(`${numbered}\n${text(0, 6)}`), rows)).toEqual([
      { start: 4, end: 10, row: 1 },
    ]);
  });

  it('claims nothing wrong, and finds every run of five lines', () => {
    const piece = fc.record({
      from: fc.integer({ min: 0, max: 12 }),
      length: fc.integer({ min: 0, max: 14 }),
      number: fc.option(fc.integer({ min: 0, max: 60 })),
    });
    const source = fc.array(piece, { maxLength: 4 }).map((pieces) =>
      pieces.flatMap(({ from, length, number }) =>
        Array.from({ length }, (_, at) => {
          const said = `a line of text, ${(from + at) % 20}`;
          return number === null ? said : `${number + at}:${said}`;
        }),
      ),
    );
    fc.assert(
      fc.property(fc.array(source, { maxLength: 4 }), source, (sources, lines) => {
        const known = new KnownShingles();
        for (const [at, noted] of sources.entries()) known.note(at + 1, linesOf(noted.join('\n')));
        const rows = new Map(sources.map((_, at) => [at + 1, at]));
        const found = known.shownIn(linesOf(lines.join('\n')), rows);
        let last = 0;
        for (const run of found) {
          expect(run.start).toBeGreaterThanOrEqual(last);
          last = run.end;
          const noted = sources[run.row] ?? [];
          expect(noted.some((_, place) => isTrue(run, lines, noted, place))).toBe(true);
        }
        for (let at = 0; at + 5 <= lines.length; at += 1) {
          const five = lines.slice(at, at + 5);
          const isEven = five.every((line, step) => numberAfter(five[0], step) === numberIn(line));
          const isShown = sources.some((noted) =>
            noted.some((_, place) => five.every((line, step) => line === noted[place + step])),
          );
          const isTold = found.some(({ start, end }) => start < at + 5 && end > at);
          if (isEven && isShown) expect(isTold).toBe(true);
        }
      }),
      { numRuns: runs(4_000) },
    );
  });

  it('finds the same as a list of its texts, whatever was forgotten and moved', () => {
    const number = fc.integer({ min: 1, max: 40 });
    const said = fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 40 });
    const command = fc.oneof(
      { weight: 6, arbitrary: fc.tuple(fc.constant('note' as const), number, said) },
      fc.tuple(fc.constantFrom('forget', 'move', 'keep'), number, fc.constant([])),
    );
    fc.assert(
      fc.property(
        fc.array(command, { maxLength: 60 }),
        fc.array(number),
        said,
        (commands, named, asked) => {
          const known = new KnownShingles();
          const texts = new Map<number, string>();
          const textOf = (of: readonly number[]): string =>
            of.map((at) => `it says the line ${at}`).join('\n');
          for (const [kind, at, given] of commands) {
            const held = texts.get(at);
            if (kind === 'keep') {
              const kept = new Set([...texts.keys()].filter((other) => other % 7 !== at % 7));
              known.keep(kept);
              for (const other of texts.keys()) if (!kept.has(other)) texts.delete(other);
              continue;
            }
            known.forget(kind === 'note' ? at : NaN);
            if (kind === 'note') {
              known.note(at, linesOf(textOf(given)));
              texts.set(at, textOf(given));
            } else if (kind === 'forget') {
              known.forget(at);
              texts.delete(at);
            } else if (held !== undefined && !texts.has(at + 100)) {
              known.move(at, at + 100);
              texts.delete(at);
              texts.set(at + 100, held);
            }
          }
          // A new table with the remaining texts, in order, finds the same.
          const fresh = new KnownShingles();
          for (const [at, held] of [...texts].toSorted(([a], [b]) => a - b))
            fresh.note(at, linesOf(held));
          expect([known.size, known.texts]).toEqual([fresh.size, texts.size]);
          const some = named
            .flatMap((name) => [name, name + 100])
            .filter((name) => texts.has(name));
          const rows = new Map(some.map((name) => [name, name + 1_000]));
          const lines = linesOf(textOf(asked));
          expect(known.shownIn(lines, rows)).toEqual(fresh.shownIn(lines, rows));
        },
      ),
      { numRuns: runs(2_000) },
    );
  });
});

/** Lines that are all different. */
function text(from: number, length: number): string {
  return Array.from({ length }, (_, at) => `the line ${from + at} of a long text`).join('\n');
}

function numberIn(line: string = ''): number | null {
  const end = line.indexOf(':');
  return end < 0 ? null : Number(line.slice(0, end));
}

function numberAfter(line: string | undefined, steps: number): number | null {
  const number = numberIn(line);
  return number === null ? null : number + steps;
}

/** Whether the lines of a run are at that place of a text, numbered as it says. */
function isTrue(
  { start, end, sourceNumber: there }: ShownRun,
  lines: readonly string[],
  noted: readonly string[],
  place: number,
): boolean {
  return lines.slice(start, end).every((line, step) => {
    const said = [line, line.slice(line.indexOf(':') + 1)];
    const shown = noted[place + step];
    if (there === undefined) return shown === line;
    return said.some((text) => shown === (there === null ? text : `${there + step}:${text}`));
  });
}
