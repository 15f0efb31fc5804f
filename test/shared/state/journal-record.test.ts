// Records are read from a journal as they were written, and broken bytes are reported.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { humanText } from '../../../src/shared/content.js';
import { ACTION } from '../../../src/shared/density/rules/marks.js';
import {
  inFront,
  JournalWriter,
  replacesResult,
  readJournal,
} from '../../../src/shared/state/journal-record.js';
import type { JournalRecord, SplicePiece } from '../../../src/shared/state/journal-record.js';
import { runs } from '../../support/scale.js';

const place = fc.record({ sourceNumber: fc.option(fc.nat(999_999_999)) }, { requiredKeys: [] });
const shown = fc
  .tuple(
    fc.record({
      start: fc.nat(50),
      end: fc.nat(50),
      entriesBack: fc.nat(9_000),
      block: fc.nat(3),
    }),
    place,
  )
  .map(([lines, found]) => ({ ...lines, ...found }));

const rowsRecord = fc
  .tuple(
    fc.array(fc.tuple(fc.nat(300), fc.nat(3), fc.integer({ min: 1, max: 8 }), fc.nat(15)), {
      maxLength: 8,
    }),
    fc.array(fc.tuple(shown, shown), { minLength: 1, maxLength: 4 }),
    fc.nat(0xffff),
  )
  .map(([rows, runsOf, word]) => {
    const sorted = rows.toSorted((a, b) => a[0] - b[0]);
    const lists: (typeof runsOf)[number][] = [];
    const checksums = sorted
      .filter(([, , action]) => replacesResult(action))
      .map((_, at) => (word + at) & 0xffff);
    const flat = sorted.flatMap(([entry, block, action, rule], at) => {
      if (action === ACTION.cut) return [entry, block, action, rule, at, at + entry];
      if (action !== ACTION.shrink) return [entry, block, action, rule, -1, -1];
      const [a, b] = runsOf[at % runsOf.length] as (typeof runsOf)[number];
      const first = { ...a, end: a.start + a.end };
      const second = { ...b, start: first.end + b.start, end: first.end + b.start + b.end };
      return [entry, block, action, rule, lists.push([first, second]) - 1, -1];
    });
    return { kind: 'rows', rows: Int32Array.from(flat), shown: lists, checksums } as const;
  });

const piece: fc.Arbitrary<SplicePiece> = fc.oneof(
  fc.record({ kind: fc.constant('stay' as const), skipped: fc.nat(900), kept: fc.nat(900) }),
  fc.record({
    kind: fc.constant('edited' as const),
    skipped: fc.nat(9),
    blocks: fc.array(fc.oneof(fc.nat(4), fc.tuple(fc.nat(4), fc.string())), { maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant('written' as const),
    entry: fc.oneof(
      fc.nat(3),
      fc.string().map((text) => humanText(text)),
    ),
  }),
);

const standing = fc.oneof(
  rowsRecord,
  fc.record({ kind: fc.constant('splice' as const), pieces: fc.array(piece, { maxLength: 5 }) }),
  fc.constant({ kind: 'unknown' } as const),
);

const records = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.tuple(fc.nat(400), standing) },
      { weight: 1, arbitrary: fc.constantFrom('pointer', 'informative', 'recallable') },
    ),
    { maxLength: 12 },
  )
  .map((list) => {
    let at = 0;
    return list.map((each): JournalRecord => {
      if (typeof each === 'string') {
        return { kind: 'settings', settings: { placeholder: each } };
      }
      at += each[0];
      return { ...each[1], at };
    });
  });

function packed(list: readonly JournalRecord[]): JournalWriter['packed'] {
  const writer = new JournalWriter();
  for (const record of list) writer.add(record);
  return writer.packed;
}

describe('readJournal', () => {
  it('returns the records that were written', () => {
    fc.assert(
      fc.property(records, (list) => {
        expect([...readJournal(packed(list))]).toEqual(list);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('ends with an error or with records, whatever the bytes are', () => {
    fc.assert(
      fc.property(
        records,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
        (list, changes) => {
          const { bytes, texts } = packed(list);
          const broken = bytes.slice();
          for (const [at, byte] of changes) broken[at % Math.max(1, broken.length)] = byte;
          try {
            for (const { kind } of readJournal({ bytes: broken, texts }))
              expect(kind).toBeTypeOf('string');
          } catch (thrown) {
            const isTold = thrown instanceof RangeError || thrown instanceof SyntaxError;
            expect(isTold, String(thrown)).toBe(true);
          }
        },
      ),
      { numRuns: runs(2_000) },
    );
  });

  it('needs eight bytes for an edit', () => {
    const rows = Array.from({ length: 100 }, (_, at): JournalRecord => ({
      kind: 'rows',
      at: 100 * at,
      rows: Int32Array.of(95 * at, 0, ACTION.excerpt, 4, -1, -1),
      shown: [],
      checksums: [0xffff],
    }));
    expect(packed(rows).bytes.length).toBeLessThanOrEqual(820);
  });
});

describe('inFront', () => {
  it('returns the rows of the first entries, with their checksums', () => {
    fc.assert(
      fc.property(rowsRecord, fc.nat(300), (given, length) => {
        const record = { ...given, at: 400 };
        const rows = rowsOf(record.rows);
        const kept = inFront(record, length, length);
        if (rows.some(([, , action]) => action === ACTION.cut)) {
          expect(kept).toBe(record);
          return;
        }
        const left = rows.filter(([entry = 0]) => entry < length);
        const texts = left.filter(([, , action = 0]) => replacesResult(action)).length;
        expect(rowsOf(kept.rows)).toEqual(left);
        expect(kept.checksums).toEqual(record.checksums.slice(0, texts));
        expect([kept.at, kept.shown]).toEqual([length, record.shown]);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('returns other records as they are', () => {
    const unknown = { kind: 'unknown', at: 9 } as const;
    expect(inFront(unknown, 4, 4)).toBe(unknown);
  });
});

function rowsOf(rows: Int32Array): readonly (readonly number[])[] {
  return Array.from({ length: rows.length / 6 }, (_, at) => [...rows.subarray(6 * at, 6 * at + 6)]);
}
