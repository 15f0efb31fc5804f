// Edits as values: which ones are valid, what applying one does, and where an entry went.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { humanText } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import {
  applyDensityResult,
  DEFAULT_DENSITY_CONFIG,
  isEmptyDensityResult,
  mapIndex,
  PRUNED_POINTER,
  validateDensityResult,
} from '../../src/shared/density.js';
import type { DensityResult } from '../../src/shared/density.js';
import { runs } from '../support/scale.js';
import { arbitraryRatio } from '../support/arbitrary-ratio.js';

const METADATA = { readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 };

function edit(removals: readonly number[], replaced: readonly number[] = []): DensityResult {
  const replacements = new Map(replaced.map((index) => [index, humanText(`new ${index}`)]));
  return { removals, replacements, metadata: METADATA };
}

function entries(length: number): IContent[] {
  return Array.from({ length }, (_, index) => humanText(`${index}`));
}

/** Any valid edit of a history of that length, with its indices in any order. */
function arbitraryEdit(length: number): fc.Arbitrary<DensityResult> {
  const indices = Array.from({ length }, (_, index) => index);
  return fc
    .record({
      touched: fc.shuffledSubarray(indices),
      share: arbitraryRatio(),
    })
    .map(({ touched, share }) => {
      const cut = Math.round(touched.length * share);
      return edit(touched.slice(0, cut), touched.slice(cut));
    });
}

/** As documented: replace first, then remove from the highest index down. */
function applyNaively(history: IContent[], { removals, replacements }: DensityResult): void {
  for (const [index, entry] of replacements) history[index] = entry;
  for (const index of [...removals].sort((a, b) => b - a)) history.splice(index, 1);
}

const HISTORY_AND_EDIT = fc
  .nat(200)
  .chain((length) => fc.tuple(fc.constant(length), arbitraryEdit(length)));

const INVALID: readonly (readonly [string, DensityResult, string, string])[] = [
  ['a removal twice', edit([1, 2, 1]), 'DENSITY_DUPLICATE_INDEX', 'removes index 1 twice'],
  ['one removed and replaced', edit([2], [2]), 'DENSITY_CONFLICT', 'index 2 is in both'],
  [
    'a removal beyond',
    edit([3]),
    'DENSITY_OUT_OF_BOUNDS',
    'removal index 3 is out of bounds [0, 3)',
  ],
  ['a replacement beyond', edit([], [7]), 'DENSITY_OUT_OF_BOUNDS', 'replacement index 7'],
  ['a negative removal', edit([-1]), 'DENSITY_OUT_OF_BOUNDS', 'removal index -1'],
  ['a fraction', edit([0.5]), 'DENSITY_OUT_OF_BOUNDS', 'removal index 0.5'],
  ['no number', edit([NaN]), 'DENSITY_OUT_OF_BOUNDS', 'removal index NaN'],
  ['a negative replacement', edit([], [-2]), 'DENSITY_OUT_OF_BOUNDS', 'replacement index -2'],
];

describe('validateDensityResult', () => {
  it.each(INVALID)('refuses %s', (_, result, code, message) => {
    expect(() => {
      validateDensityResult(result, 3);
    }).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
  });

  it('accepts every valid edit', () => {
    fc.assert(
      fc.property(HISTORY_AND_EDIT, ([length, result]) => {
        validateDensityResult(result, length);
      }),
    );
  });
});

describe('applyDensityResult', () => {
  it('equals replacing and then removing in reverse order', () => {
    fc.assert(
      fc.property(HISTORY_AND_EDIT, ([length, result]) => {
        const history = entries(length);
        const expected = [...history];
        applyNaively(expected, result);
        applyDensityResult(history, result);
        expect(history).toHaveLength(expected.length);
        for (const [at, entry] of history.entries()) expect(entry).toBe(expected[at]);
      }),
      { numRuns: runs(500) },
    );
  });

  it.each(INVALID)('changes nothing for %s', (_, result, code) => {
    const history = entries(3);
    const before = [...history];
    expect(() => {
      applyDensityResult(history, result);
    }).toThrow(expect.objectContaining({ code }));
    expect(history).toEqual(before);
  });

  it('empties a history', () => {
    const history = entries(3);
    applyDensityResult(history, edit([2, 0, 1]));
    expect(history).toEqual([]);
  });

  it('does not modify the result', () => {
    const result = edit([2, 0], [1]);
    Object.freeze(result.removals);
    applyDensityResult(entries(3), result);
    expect(result.removals).toEqual([2, 0]);
  });
});

describe('mapIndex', () => {
  it('returns the new position of every entry', () => {
    fc.assert(
      fc.property(HISTORY_AND_EDIT, ([length, result]) => {
        const before = entries(length);
        const after = [...before];
        applyDensityResult(after, result);
        for (const [index, entry] of before.entries()) {
          const to = mapIndex(result, index);
          if (to === null) expect(result.removals).toContain(index);
          else expect(after[to]).toBe(result.replacements.get(index) ?? entry);
        }
      }),
    );
  });

  it('follows entries appended after the edit was computed', () => {
    expect(mapIndex(edit([0, 2]), 10)).toBe(8);
  });

  it.each([-1, 0.5, NaN])('refuses %s', (index) => {
    expect(() => mapIndex(edit([]), index)).toThrow(RangeError);
  });
});

describe('isEmptyDensityResult', () => {
  it.each([
    [true, edit([])],
    [false, edit([1])],
    [false, edit([], [1])],
  ])('is %s', (isEmpty, result) => {
    expect(isEmptyDensityResult(result)).toBe(isEmpty);
  });
});

describe('DEFAULT_DENSITY_CONFIG', () => {
  it('prunes reads and inclusions, and keeps results', () => {
    expect(DEFAULT_DENSITY_CONFIG).toEqual({
      readWritePruning: true,
      fileDedupe: true,
      recencyPruning: false,
      recencyRetention: 3,
    });
  });
});

describe('PRUNED_POINTER', () => {
  it('is the documented text', () => {
    expect(PRUNED_POINTER).toBe('[Result pruned — re-run tool to retrieve]');
  });
});
