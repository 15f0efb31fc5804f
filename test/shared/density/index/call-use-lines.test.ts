// Which lines of a file a call reads: by first and last, by first and count, by a pair.

import { describe, expect, it } from 'vitest';
import { linesRead } from '../../../../src/shared/density/index/call-use.js';
import { rangeOf, WHOLE_FILE } from '../../../../src/shared/density/index/command-reading.js';
import type { LineKeys } from '../../../../src/shared/tool-use.js';

const KEYS: LineKeys = { first: 'from', last: 'to', count: 'limit' };
const PAIR: LineKeys = { range: 'view_range' };

describe('linesRead', () => {
  it.each<[unknown, [number, number]]>([
    [{}, [WHOLE_FILE.first, WHOLE_FILE.last]],
    [{ from: null, limit: null }, [WHOLE_FILE.first, WHOLE_FILE.last]],
    [{ from: 5 }, [5, 4 + WHOLE_FILE.last]],
    [{ from: 5, limit: 1 }, [5, 5]],
    [{ from: 5, limit: 10 }, [5, 14]],
    [{ limit: 10 }, [1, 10]],
    [{ to: 10 }, [1, 10]],
    [{ from: 3, to: 3 }, [3, 3]],
    [{ from: 0, limit: 10 }, [1, 10]],
    [{ from: '5', to: '9' }, [5, 9]],
    // The last line is more specific than the number of lines.
    [{ from: 5, to: 9, limit: 100 }, [5, 9]],
  ])('of %j are %j', (parameters, [first, last]) => {
    expect(linesRead(KEYS, parameters)).toEqual({ first, last });
  });

  it.each<[unknown, [number, number]]>([
    [{}, [WHOLE_FILE.first, WHOLE_FILE.last]],
    [{ view_range: null }, [WHOLE_FILE.first, WHOLE_FILE.last]],
    [{ view_range: [5, 9] }, [5, 9]],
    [{ view_range: ['5', '9'] }, [5, 9]],
    [{ view_range: '[5, 9]' }, [5, 9]],
    [{ view_range: ' [5,9] ' }, [5, 9]],
    [{ view_range: [0, 9] }, [1, 9]],
  ])('of the pair %j are %j', (parameters, [first, last]) => {
    expect(linesRead(PAIR, parameters)).toEqual({ first, last });
  });

  it('extend to the end for a pair that ends in -1', () => {
    for (const view_range of [[900, -1], '[900, -1]']) {
      const lines = linesRead(PAIR, { view_range });
      expect(lines?.first).toBe(900);
      expect(lines?.last).toBeGreaterThan(1_000_000);
    }
  });

  it.each<[LineKeys, unknown]>([
    ...[null, undefined, 7, 'text'].map((given): [LineKeys, unknown] => [KEYS, given]),
    ...[
      { from: 9, to: 5 },
      { from: -1 },
      { from: 'x' },
      { from: '' },
      { from: 1.5 },
      { from: NaN },
      { from: [1], to: 2 },
      { to: {} },
      { limit: -1 },
      { limit: 2 ** 60 },
    ].map((given): [LineKeys, unknown] => [KEYS, given]),
    ...[[9, 5], [5], [], 'all', [1.5, 9], ['x', 9], [5, 'x'], { first: 1 }, 7, true, '[5; 9]'].map(
      (view_range): [LineKeys, unknown] => [PAIR, { view_range }],
    ),
  ])('by %j are not known of %j', (keys, parameters) => {
    expect(linesRead(keys, parameters)).toBeUndefined();
  });
});

describe('rangeOf', () => {
  it('is undefined if it ends before it starts', () => {
    expect(rangeOf(3, 2)).toBeUndefined();
    expect(rangeOf(3, undefined)).toBeUndefined();
    expect(rangeOf(3, 3)).toEqual({ first: 3, last: 3 });
  });

  it('fits a column of integers, however large the numbers are', () => {
    const range = rangeOf(Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER);
    expect(range?.last).toBeLessThan(2 ** 31);
    expect(range?.first).toBeLessThanOrEqual(range?.last ?? 0);
    expect(rangeOf(1, Infinity)?.last).toBeLessThan(2 ** 31);
  });
});
