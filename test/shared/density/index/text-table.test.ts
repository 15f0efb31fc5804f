// A table of texts, compared with a list of distinct ones.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NONE, IntColumn } from '../../../../src/shared/density/index/history-columns.js';
import { TextTable } from '../../../../src/shared/density/index/text-table.js';

/** Short texts, so that many are equal, with empty ones and lone surrogates. */
const text = fc.oneof(
  fc.string({ maxLength: 2 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', 'a', '\ud800', '\udc00', '\ufffd'),
  fc.nat(500).map((number) => `call-${String(number)}`),
);
const texts = fc.array(text, { maxLength: 600, size: 'max' });

describe('TextTable', () => {
  it('numbers distinct texts by first use, and returns them', () => {
    let most = 0;
    fc.assert(
      fc.property(texts, (list) => {
        const table = new TextTable();
        const distinct = [...new Set(list)];
        const numbers = list.map((one) => table.numberOf(one));
        expect(numbers).toEqual(list.map((one) => distinct.indexOf(one)));
        expect(table.size).toBe(distinct.length);
        expect(numbers.map((number) => table.textOf(number))).toEqual(list);
        most = Math.max(most, distinct.length);
      }),
    );
    expect(most).toBeGreaterThan(300);
  });

  it('numbers the texts that a text lists', () => {
    const table = new TextTable();
    const [list, b] = [table.numberOf('a b'), table.numberOf('b')];
    const expected = [table.numberOf('a'), b];
    expect([table.listedIn(list), table.listedIn(list)]).toEqual([expected, expected]);
    expect(table.listedIn(b)).toEqual([b]);
  });

  it('stays correct with many texts', () => {
    const table = new TextTable();
    const name = (number: number): string => `call_${String(number).padStart(8, '0')}`;
    for (let number = 0; number < 70_000; number += 1) table.numberOf(name(number));
    for (let number = 0; number < 70_000; number += 7) {
      expect(table.numberOf(name(number))).toBe(number);
      expect(table.textOf(number)).toBe(name(number));
    }
  });

  it('drops unused texts once they are many, and renumbers the columns', () => {
    const table = new TextTable();
    const column = new IntColumn();
    const other = new IntColumn();
    for (let number = 0; number < 1_000; number += 1) table.numberOf(`text ${String(number)}`);
    for (const number of [900, NONE, 4]) column.push(number);
    for (const number of [4, 7]) other.push(number);
    const kept = table.withoutUnused([column, other]);
    expect(kept.size).toBe(3);
    expect(column.at(1)).toBe(NONE);
    expect(
      [column.at(0), column.at(2), other.at(0), other.at(1)].map((number) => kept.textOf(number)),
    ).toEqual(['text 900', 'text 4', 'text 4', 'text 7']);
  });

  it('is returned unchanged while most of its texts are used', () => {
    const table = new TextTable();
    const column = new IntColumn();
    for (let number = 0; number < 1_000; number += 1) {
      const given = table.numberOf(`text ${String(number)}`);
      if (number % 4 !== 0) column.push(given);
    }
    expect(table.withoutUnused([column])).toBe(table);
  });
});
