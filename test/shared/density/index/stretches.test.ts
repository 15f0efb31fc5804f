// Changes as ranges, compared with the lists of entries that they describe.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IntColumn, NONE } from '../../../../src/shared/density/index/history-columns.js';
import type { EntryStretches } from '../../../../src/shared/density/index/stretches.js';
import {
  rowAt,
  stretchesOfEdit,
  stretchesOfRewrite,
} from '../../../../src/shared/density/index/stretches.js';

/** For each entry of the new history, its position in the former one; checks the shifts, too. */
function placesOf(entries: EntryStretches): number[] {
  const places: number[] = [];
  for (const { start, end, shift } of entries.list()) {
    expect(start + shift).toBe(places.length);
    for (let place = start; place < end; place += 1) places.push(place);
  }
  expect(entries.length).toBe(places.length);
  expect(entries.end).toBe(Math.max(0, ...places.map((place) => place + 1)));
  return places;
}

const edits = fc.array(fc.constantFrom('stays', 'stays', 'goes', 'is replaced'), {
  maxLength: 60,
  size: 'max',
});

describe('stretchesOfEdit', () => {
  it('omits removed entries, and has new ones for replaced entries', () => {
    fc.assert(
      fc.property(edits, (kinds) => {
        const at = (kind: string): number[] =>
          kinds.flatMap((one, entry) => (one === kind ? [entry] : []));
        const replaced = at('is replaced');
        const expected = kinds.flatMap((kind, entry) => {
          if (kind === 'goes') return [];
          return [kind === 'stays' ? entry : kinds.length + replaced.indexOf(entry)];
        });
        const removals = Int32Array.from(at('goes'));
        const made = stretchesOfEdit(kinds.length, removals, Int32Array.from(replaced));
        expect(placesOf(made)).toEqual(expected);
      }),
    );
  });

  it('makes at most one range more than there are edits', () => {
    const edited = stretchesOfEdit(100_000, Int32Array.of(5, 6, 90_000), Int32Array.of());
    expect(edited.list()).toEqual([
      { start: 0, end: 5, shift: 0 },
      { start: 7, end: 90_000, shift: -2 },
      { start: 90_001, end: 100_000, shift: -3 },
    ]);
  });
});

describe('stretchesOfRewrite', () => {
  it('has the entries in their new order, with new ones behind the former ones', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1, max: 30 })), (sources) => {
        let next = 31;
        const expected = sources.map((source) => (source === -1 ? next++ : source));
        expect(placesOf(stretchesOfRewrite(31, Int32Array.from(sources)))).toEqual(expected);
      }),
    );
  });
});

describe('rowAt', () => {
  it('finds the row of a block, and none for a block of another entry', () => {
    const blocks: readonly (readonly [entry: number, block: number])[] = [
      [1, 0],
      [1, 2],
      [4, 1],
      [4, 3],
    ];
    const table = { entry: new IntColumn(), block: new IntColumn() };
    for (const [entry, block] of blocks) {
      table.entry.push(entry);
      table.block.push(block);
    }
    for (let entry = 0; entry < 6; entry += 1) {
      for (let block = 0; block < 5; block += 1) {
        const row = blocks.findIndex(([of, at]) => of === entry && at === block);
        expect(rowAt(table, entry, block)).toBe(row === -1 ? NONE : row);
      }
    }
  });
});
