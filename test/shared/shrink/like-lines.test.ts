// What `likeLines` shows of rows that differ in numbers: exceptions, and identifiers.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSimilar, LIKE_LINES } from '../../../src/shared/shrink/like-lines.js';
import { Draft } from '../../../src/shared/shrink/shrinker.js';
import { runs } from '../../support/scale.js';

/** The shortened output of a command. */
function left(lines: readonly string[]): readonly string[] {
  const subject = { purpose: 'command', command: 'node run.js', level: 'default' } as const;
  return LIKE_LINES.shrink(Draft.ofLines(lines), subject)?.lines ?? lines;
}

function rows(count: number, row: (at: number) => string): readonly string[] {
  return Array.from({ length: count }, (_, at) => row(at));
}

/** A number that does not follow from others. */
function scattered(at: number): number {
  return (at * 37_813) % 90_001;
}

/** Decreases with the steps. */
function loss(at: number): string {
  return (3.2 * Math.exp(-at / 90) + 0.3).toFixed(4);
}

describe('isSimilar', () => {
  it('is true of lines that are equal except for digits, spaces and bars, and have something else', () => {
    const letters = (line: string): string => line.replace(/[ \d#=\u2500-\u259f]/g, '');
    const lines = fc.string({ unit: fc.constantFrom(...'ab1 =█#─▟/:■'), maxLength: 6 });
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        expect(isSimilar(a, b)).toBe(letters(a) === letters(b) && letters(a) !== '');
      }),
      { numRuns: runs(20_000) },
    );
  });
});

describe('likeLines', () => {
  it.each([
    [
      'a replica that is down',
      (at: number) => `web-${at}   ${at === 223 ? '0/1' : '1/1'}   ${at}d`,
    ],
    [
      'a request that failed',
      (at: number) => `status ${at === 223 ? 500 : 200} in 0.${1 + (at % 9)}`,
    ],
    [
      'an answer that took long',
      (at: number) => `seq=${at} time=${at === 223 ? 812 : 1 + (at % 9)}.5 ms`,
    ],
    ['a count with more digits', (at: number) => `${at === 223 ? 4096 : 10 + (at % 80)} of them`],
    [
      'a size with more digits',
      (at: number) => `took ${at === 223 ? 4096 : 10 + (at % 80)}${at % 2 === 0 ? '.25' : '.5'} kB`,
    ],
  ])('shows among the rows of a command %s', (_, row) => {
    const all = rows(400, row);
    expect(left(all)).toEqual([
      ...all.slice(0, 150),
      '[… 73 lines like it left out …]',
      all[223],
      '[… 126 lines like it left out …]',
      ...all.slice(-50),
    ]);
  });

  it('ends at once for a line padded with two million spaces, and many similar ones', () => {
    const padded = `a line${' '.repeat(2_000_000)}`;
    const shown = left([padded, ...rows(200_000, (at) => `a line ${scattered(at)}`)]);
    expect(shown[0]).toBe(padded);
    expect(shown.length).toBeLessThan(400);
  });

  it('shows the first of consecutive equal exceptions, and at most 20', () => {
    const hours = rows(900, (at) => `${at < 840 ? 10 : 11}:00 took ${1 + (at % 9)}`);
    expect(left(hours)).toHaveLength(150 + 1 + 1 + 1 + 50);
    const isOdd = (at: number): boolean => at > 150 && at % 50 === 20;
    const odd = rows(2_000, (at) => `job ${isOdd(at) ? at : 7} is at step ${at % 2}`);
    expect(left(odd).filter((line) => !line.startsWith('[…'))).toHaveLength(150 + 20 + 50);
  });

  it('shows each exception once, also those in the head and the tail, and next to each other', () => {
    const odd = [7, 223, 224, 226, 380];
    const all = rows(400, (at) => `job is at step ${odd.includes(at) ? at : 3}, ${'ab'.charAt(0)}`);
    const shown = left(all.map((line, at) => `${line}${at}`));
    expect(shown.filter((line) => /step (?!3,)/.test(line))).toHaveLength(odd.length);
    expect(shown.filter((line) => line.startsWith('[…'))).toEqual([
      '[… 73 lines like it left out …]',
      '[… 123 lines like it left out …]',
    ]);
    expect(shown).toHaveLength(150 + 1 + 4 + 1 + 50);
  });

  it('keeps rows that are shorter than the note about them', () => {
    const few = [...rows(4, (at) => `step ${at}/3`), 'b', ...rows(400, (at) => `a ${at}`)];
    expect(left(few)).toEqual(few);
  });

  it('keeps rows of numbers that are no longer than lists of files', () => {
    const values = rows(299, (at) => `session ${scattered(at)} is open`);
    expect(left(values)).toEqual(values);
    const many = rows(900, (at) => `session:${10_000 + scattered(at)}`);
    expect(left(many)).toHaveLength(150 + 1 + 50);
  });

  it.each([
    ['a patch', (at: number) => `+  id${at}: 'x',`],
    ['rates', (at: number) => `sda${at}  read ${(at * 7) % 90} MB/s`],
    ['a chart', (at: number) => `${at} ${'█'.repeat(1 + ((at * 7) % 40))}`],
    ['measured values', (at: number) => `step ${at * 50}/9950 | loss ${loss(at)} | 1180 tok/s`],
  ])('keeps all rows of %s', (_, row) => {
    expect(left(rows(200, row))).toEqual(rows(200, row));
  });

  it('omits no blank lines if the note would be longer', () => {
    const few = ['a', ...rows(5, () => ''), 'b', ...rows(9, () => '---'), 'c'];
    expect(left(few)).toEqual(few);
    expect(left(['a', ...rows(60, () => ''), 'b'])).toHaveLength(4);
  });

  it('shows only the last state of progress, whatever its speed', () => {
    const done = rows(60, (at) => `fetched ${at}/59 objects, rate: 3.${at % 9} MB/s, eta 1.5 s`);
    expect(left(done)).toHaveLength(1 + 1 + 1);
    const slow = rows(60, (at) => `fetched ${at}/59 objects in ${at === 30 ? 900 : 1} ms`);
    expect(left(slow)).toHaveLength(1 + 1 + 1);
    const sizes = rows(
      60,
      (at) => `${'━'.repeat(at)} ${(at / 10).toFixed(1)}/5.9 MB ${at % 7}.2 MB/s`,
    );
    expect(left(sizes)).toHaveLength(1 + 1 + 1);
  });

  it('takes no network masks and no numbers above their total for progress', () => {
    const routes = rows(30, (at) => `10.${at}.0.0/16 via 10.0.0.${at}`);
    expect(left(routes)).toEqual(routes);
    const beyond = rows(30, (at) => `queue ${at}/16 is long`);
    expect(left(beyond)).toEqual(beyond);
  });
});
