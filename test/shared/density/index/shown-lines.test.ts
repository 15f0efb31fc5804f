// Which lines of a text others show, and that of those which are forgotten nothing is left.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  KnownStretches,
  STRETCH_LINES,
  stretchNumbers,
} from '../../../../src/shared/density/index/shown-lines.js';
import { runs } from '../../../support/scale.js';

const LINES = 'the first line of three\nthe second line of three\nthe third line of three';
const OTHERS = LINES.replaceAll('three', 'the others');
const numbers = stretchNumbers(LINES);

describe('KnownStretches', () => {
  it('finds lines in the first text that has them and may be named, in whatever order texts were noted', () => {
    const known = new KnownStretches();
    for (const text of [20, 10, 30]) known.note(text, numbers);
    const rows = new Map([
      [30, 7],
      [10, 4],
      [20, 6],
    ]);
    const shown = (): number[] => known.shownIn(numbers, rows).map(({ row }) => row);
    expect(shown()).toEqual([4]);
    known.move(30, 5);
    rows.delete(30);
    rows.set(5, 2);
    expect(shown()).toEqual([2]);
    known.forget(5);
    expect(shown()).toEqual([4]);
    rows.delete(10);
    expect(shown()).toEqual([6]);
    rows.clear();
    expect(shown()).toEqual([]);
  });

  it('knows how much is noted of the longest text, and finds the others when that is forgotten', () => {
    const known = new KnownStretches();
    known.note(
      1,
      stretchNumbers(Array.from({ length: 9_000 }, (_, at) => `a line ${at}`).join('\n')),
    );
    known.note(2, numbers);
    expect(known.sizeOf(1)).toBe(Math.ceil(4_096 / STRETCH_LINES));
    expect(known.sizeOf(2)).toBe(1);
    known.forget(1);
    expect(known.sizeOf(1)).toBeUndefined();
    expect(known.shownIn(numbers, new Map([[2, 5]]))).toEqual([
      { start: 0, end: STRETCH_LINES, row: 5 },
    ]);
  });

  it('tells of one run where lines follow each other in another text as well', () => {
    const known = new KnownStretches();
    known.note(1, stretchNumbers(`${LINES}\n${OTHERS}`));
    const turned = stretchNumbers(`${OTHERS}\n${LINES}\n${OTHERS}`);
    expect(known.shownIn(turned, new Map([[1, 0]]))).toEqual([
      { start: 0, end: 3, row: 0 },
      { start: 3, end: 9, row: 0 },
    ]);
  });

  it('tells any two numbers from each other, and any lines', () => {
    const number = fc.bigInt({ min: 1n, max: 2n ** 53n }).map(Number);
    const close = number.chain((one) =>
      fc.constantFrom(one, one + (one % 2 === 0 ? -1 : 1), 2 ** 53, 1, 2 ** 21, 2 ** 53 - 1),
    );
    fc.assert(
      fc.property(fc.uniqueArray(close, { minLength: 2, maxLength: 60 }), (given) => {
        const asked = [...new Set(given.map((one) => Math.min(2 ** 53, Math.max(1, one))))];
        const noted = asked.slice(1);
        const known = new KnownStretches();
        known.note(1, Float64Array.from(noted.flatMap((one) => [one, 0, 0])));
        const found = asked.map(
          (one) => known.shownIn(Float64Array.of(one), new Map([[1, 3]])).length,
        );
        expect(found).toEqual(asked.map((one) => (noted.includes(one) ? 1 : 0)));
        const all = known.shownIn(
          Float64Array.from(noted.flatMap((one) => [one, 0, 0])),
          new Map([[1, 3]]),
        );
        expect(all.reduce((sum, { start, end }) => sum + end - start, 0)).toBe(3 * noted.length);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('knows more stretches than fit narrow rows, and those that are left of them', () => {
    const known = new KnownStretches();
    const texts = Array.from({ length: 60 }, (_, text) =>
      Float64Array.from({ length: 4_096 }, (_unused, at) => 1 + text * 4_096 + at),
    );
    for (const [text, stretches] of texts.entries()) known.note(text + 1, stretches);
    expect(known.size).toBeGreaterThan(2 ** 16);
    const isKnown = (text: number): boolean =>
      known.shownIn(texts[text] ?? new Float64Array(), new Map([[text + 1, 0]])).length > 0;
    expect(texts.map((_, text) => isKnown(text))).toEqual(texts.map(() => true));
    known.keep(new Set([1, 60]));
    expect(texts.flatMap((_, text) => (isKnown(text) ? [text] : []))).toEqual([0, 59]);
  });

  it('keeps nothing of what is forgotten', () => {
    const known = new KnownStretches();
    for (const text of [1, 2]) known.note(text, text === 2 ? stretchNumbers(OTHERS) : numbers);
    known.move(1, 3);
    known.keep(new Set([3]));
    const rows = new Map([1, 2, 3].map((text) => [text, 0]));
    expect(known.sizeOf(2)).toBeUndefined();
    expect(known.sizeOf(3)).toBe(1);
    expect(known.shownIn(stretchNumbers(OTHERS), rows)).toEqual([]);
    expect(known.shownIn(numbers, rows)).toHaveLength(1);
    known.keep(new Set());
    expect(known.size).toBe(0);
  });

  it('knows what a list of its texts would know, whatever was forgotten and moved', () => {
    const text = fc.integer({ min: 1, max: 40 });
    const stretches = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 60 });
    const command = fc.oneof(
      { weight: 6, arbitrary: fc.tuple(fc.constant('note' as const), text, stretches) },
      fc.tuple(fc.constantFrom('forget', 'move', 'keep'), text, fc.constant([])),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), fc.array(text), (commands, named) => {
        const known = new KnownStretches();
        const texts = new Map<number, readonly number[]>();
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
            // Their numbers have more than 32 bits, and some have those in common.
            const wide = given.map((number) => (number === 0 ? 0 : number * (2 ** 32 + 1)));
            known.note(at, Float64Array.from(wide));
            const noted = wide.filter((number, line) => line % STRETCH_LINES === 0 && number !== 0);
            texts.set(at, [...new Set(noted)]);
          } else if (kind === 'forget') {
            known.forget(at);
            texts.delete(at);
          } else if (held !== undefined && !texts.has(at + 100)) {
            known.move(at, at + 100);
            texts.delete(at);
            texts.set(at + 100, held);
          }
        }
        const size = [...texts.values()].reduce((sum, { length }) => sum + length + 1, 0);
        expect([known.size, known.texts]).toEqual([size, texts.size]);
        const some = named.flatMap((name) => [name, name + 100]).filter((name) => texts.has(name));
        const rows = new Map(some.map((name) => [name, name + 1_000]));
        for (let number = 1; number <= 31; number += 1) {
          const wide = number * (2 ** 32 + 1);
          const having = some.filter((name) => texts.get(name)?.includes(wide));
          const expected = having.length === 0 ? [] : [Math.min(...having) + 1_000];
          const shown = known.shownIn(Float64Array.of(wide), rows);
          expect(shown.map(({ row }) => row)).toEqual(expected);
        }
      }),
      { numRuns: runs(2_000) },
    );
  });
});
