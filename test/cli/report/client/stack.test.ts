// The sums that the chart draws.

import { describe, expect, test } from 'vitest';
import { stack } from '../../../../src/cli/report/client/stack.js';

describe('stack', () => {
  test('returns the upper edge of each layer', () => {
    expect(
      stack([
        [1, 2],
        [3, 0],
        [0, 5],
      ]),
    ).toEqual([
      [1, 2],
      [4, 2],
      [4, 7],
    ]);
  });

  test('leaves the layers as they are', () => {
    const layers = [[1], [2]];
    stack(layers);
    expect(layers).toEqual([[1], [2]]);
  });
});
