// Columns, compared with plain lists.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IntColumn } from '../../../../src/shared/density/index/history-columns.js';
import { EntryStretches } from '../../../../src/shared/density/index/stretches.js';

/** Most values are small; those next to the limits of a width are as likely as others. */
const value = fc.oneof(
  fc.integer({ min: -1, max: 100 }),
  fc.constantFrom(-129, -128, 127, 128, -32_769, -32_768, 32_767, 32_768),
  fc.integer(),
);
const values = fc.array(value, { maxLength: 300, size: 'max' });

function columnOf(list: readonly number[]): IntColumn {
  const column = new IntColumn();
  for (const one of list) column.push(one);
  return column;
}

describe('IntColumn', () => {
  it('has the values that were pushed and set, whatever width that takes', () => {
    fc.assert(
      fc.property(values, fc.array(fc.tuple(fc.nat(299), value)), (list, sets) => {
        const column = columnOf(list);
        const expected = [...list];
        for (const [row, one] of sets) {
          if (row >= expected.length) continue;
          column.set(row, one);
          expected[row] = one;
        }
        expect(column.length).toBe(expected.length);
        expect([...column.toArray()]).toEqual(expected);
        expect(expected.map((_, row) => column.at(row))).toEqual(expected);
      }),
    );
  });

  it('appends ranges of another column, unchanged or shifted', () => {
    const places = fc.array(fc.tuple(fc.nat(299), fc.nat(80)), { maxLength: 8 });
    fc.assert(
      fc.property(values, values, places, (list, former, chosen) => {
        const stretches = new EntryStretches();
        for (const [start, length] of chosen) {
          stretches.add(start, Math.min(start + length, former.length));
        }
        const rows = stretches
          .list()
          .flatMap(({ start, end, shift }) =>
            former.slice(start, end).map((one) => ({ one, shift })),
          );
        const column = columnOf(list);
        column.pushStretches(columnOf(former), stretches.list());
        expect([...column.toArray()]).toEqual([...list, ...rows.map(({ one }) => one)]);
        const entries = columnOf(list);
        entries.pushShifted(columnOf(former.map((_, row) => row)), stretches.list());
        expect([...entries.toArray()].slice(list.length)).toEqual(rows.map((_, at) => at));
      }),
    );
  });

  it('takes little more than a byte for each small integer', () => {
    const before = process.memoryUsage().arrayBuffers;
    const columns = Array.from({ length: 20 }, () =>
      columnOf(Array.from({ length: 50_000 }, (_, row) => row % 128)),
    );
    const most = 20 * 50_000 * 1.5;
    // Outgrown buffers may not have been collected yet: that can double the memory.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(most * 3);
    expect(columns).toHaveLength(20);
  });
});
