// What `likeLines` shows of rows that differ in numbers: exceptions, and identifiers.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSimilar, LIKE_LINES } from '../../../src/shared/shrink/like-lines.js';
import { Draft } from '../../../src/shared/shrink/shrinker.js';
import { runs } from '../../support/scale.js';

/** What is left of the output of a command. */
function left(lines: readonly string[]): readonly string[] {
  const subject = { purpose: 'command', command: 'node run.js', level: 'default' } as const;
  return LIKE_LINES.shrink(Draft.ofLines(lines), subject)?.lines ?? lines;
}

function rows(count: number, row: (at: number) => string): readonly string[] {
  return Array.from({ length: count }, (_, at) => row(at));
}

/** A number that is told by no other one. */
function scattered(at: number): number {
  return (at * 37_813) % 90_001;
}

/** Falls with the steps. */
function loss(at: number): string {
  return (3.2 * Math.exp(-at / 90) + 0.3).toFixed(4);
}

describe('isSimilar', () => {
  it('tells whether lines are equal but for digits, spaces and bars, and have something else', () => {
    const letters = (line: string): string => line.replace(/[ \d#=\u2500-\u259f]/g, '');
    const lines = fc.string({ unit: fc.constantFrom('a', 'b', '1', ' ', '=', '█'), maxLength: 6 });
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
    ['a replica that is down', (at: number) => `web-${at}   ${at === 33 ? '0/1' : '1/1'}   ${at}d`],
    [
      'a request that failed',
      (at: number) => `status ${at === 33 ? 500 : 200} in 0.${1 + (at % 9)}`,
    ],
    [
      'an answer that took long',
      (at: number) => `seq=${at} time=${at === 33 ? 812 : 1 + (at % 9)}.5 ms`,
    ],
  ])('shows among the rows of a command %s', (_, row) => {
    const all = rows(80, row);
    expect(left(all)).toEqual([
      ...all.slice(0, 12),
      '[… 21 lines like it left out …]',
      all[33],
      '[… 40 lines like it left out …]',
      ...all.slice(-6),
    ]);
  });

  it('ends at once for a line padded with two million spaces, and many like it', () => {
    const padded = `a line${' '.repeat(2_000_000)}`;
    const shown = left([padded, ...rows(200_000, (at) => `a line ${scattered(at)}`)]);
    expect(shown[0]).toBe(padded);
    expect(shown.length).toBeLessThan(400);
  });

  it('shows the first of equal exceptions in a row, and at most 20', () => {
    const hours = rows(400, (at) => `${at < 370 ? 10 : 11}:00 took ${1 + (at % 9)}`);
    expect(left(hours)).toHaveLength(12 + 1 + 1 + 1 + 6);
    const odd = rows(2_000, (at) => `job ${at % 50 === 20 ? at : 7} is at work`);
    expect(left(odd).filter((line) => !line.startsWith('[…'))).toHaveLength(12 + 20 + 6);
  });

  it('leaves lists of identifiers whole that are no longer than lists of files', () => {
    const ids = rows(250, (at) => `session:${10_000 + scattered(at)}`);
    expect(left(ids)).toEqual(ids);
    const someShorter = rows(100, (at) => `session:${scattered(at)}`);
    expect(left(someShorter)).toEqual(someShorter);
    const many = rows(900, (at) => `session:${10_000 + scattered(at)}`);
    expect(left(many)).toHaveLength(150 + 1 + 50);
    const times = rows(250, (at) => `tick at ${1_764_000_000 + at * 9 + (at % 7)} of it`);
    expect(left(times)).toHaveLength(12 + 1 + 6);
  });

  it.each([
    ['psql without rulers', (at: number) => `${9_000 + at}|${at * 7}.${10 + at}|EUR`],
    ['CSV', (at: number) => `${at},2026-02-11,${at * 7}.50,paid`],
    ['TSV', (at: number) => `${at}\t${at * 7}\tEUR`],
  ])('leaves rows of cells whole, as %s prints them', (_, row) => {
    expect(left(rows(120, row))).toEqual(rows(120, row));
    expect(left(rows(400, row)).length).toBeLessThan(210);
    const sentences = rows(120, (at) => `step ${at}, of ${(at * 7) % 11}, all`);
    expect(left(sentences)).toHaveLength(12 + 1 + 6);
  });

  it('leaves sorted lists of identifiers whole, whose gaps nobody can guess, but no counters', () => {
    const ids = rows(90, (at) => `order ${100_200 + at * 31 + ((at * at) % 23)} is stuck`);
    expect(left(ids)).toEqual(ids);
    const counters = rows(90, (at) => `order ${100_200 + at * 32} is stuck`);
    expect(left(counters)).toHaveLength(12 + 1 + 6);
  });

  it.each([
    ['psql', ['  id  | total', '------+-------']],
    ['mysql', ['| id   | total |', '+------+-------+']],
    ['a box', ['│ id   │ total │', '├──────┼───────┤']],
  ])('leaves the rows of a table of %s whole, which were asked for', (_, head) => {
    const table = rows(70, (at) => ` ${1_003 + at * 7} | ${at}.5`);
    expect(left([...head, ...table, '(70 rows)'])).toEqual([...head, ...table, '(70 rows)']);
    expect(left([...head, '', ...table])).toHaveLength(2 + 1 + 12 + 1 + 6);
  });

  it.each([
    ['steps of all', (at: number) => `step ${at * 50}/10000 | loss ${loss(at)} | 1180 tok/s`],
    ['steps', (at: number) => `step: ${at * 50} loss: ${loss(at)}`],
  ])('shows the course of what is measured at %s, not only how it begins and ends', (_, row) => {
    const all = rows(200, row);
    const kept = left(all).filter((line) => !line.startsWith('[…'));
    expect(kept.slice(0, 3)).toEqual(all.slice(0, 3));
    expect(kept.slice(-6)).toEqual(all.slice(-6));
    expect(kept).toHaveLength(3 + 8 + 6);
    const places = kept.map((line) => all.indexOf(line));
    const steps = places.map((at, place) => at - (places[place - 1] ?? 0));
    expect(Math.max(...steps)).toBeLessThan(30);
  });

  it('shows the extremes of what is measured, which are asked for most', () => {
    const all = rows(200, (at) => {
      const held = at === 111 ? '0.2871' : at === 42 ? '9.5412' : loss(at);
      return `epoch ${at} loss: ${loss(at)} val_loss: ${held}`;
    });
    expect(left(all)).toEqual(expect.arrayContaining([all[42], all[111]]));
    expect(left(all).filter((line) => !line.startsWith('[…'))).toHaveLength(3 + 8 + 6 + 3);
  });

  it('leaves out no blank lines where the note would be longer', () => {
    const few = ['a', ...rows(5, () => ''), 'b', ...rows(9, () => '---'), 'c'];
    expect(left(few)).toEqual(few);
    expect(left(['a', ...rows(60, () => ''), 'b'])).toHaveLength(4);
  });

  it('shows only the last of what is done, whatever its speed', () => {
    const done = rows(60, (at) => `fetched ${at}/59 objects, rate: 3.${at % 9} MB/s, eta 1.5 s`);
    expect(left(done)).toHaveLength(1 + 1 + 1);
  });

  it('takes no networks and no numbers beyond their whole for progress', () => {
    const routes = rows(30, (at) => `10.${at}.0.0/16 via 10.0.0.${at}`);
    expect(left(routes)).toEqual(routes);
    const beyond = rows(30, (at) => `queue ${at}/16 is long`);
    expect(left(beyond)).toEqual(beyond);
  });
});
