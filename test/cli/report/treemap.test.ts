// The areas are proportional to the weights, and fill the chart.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { treemap } from '../../../src/cli/report/treemap.js';
import { runs } from '../../support/scale.js';

const AREA = { x: 10, y: 20, width: 300, height: 200 };
const weights = fc
  .array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 40 })
  .map((values) => values.sort((a, b) => b - a));

describe('treemap', () => {
  test('gives each weight its share of the area, without overlap', () => {
    fc.assert(
      fc.property(weights, (values) => {
        const boxes = treemap(values, AREA);
        const total = values.reduce((sum, value) => sum + value, 0);
        expect(boxes).toHaveLength(values.length);
        boxes.forEach(({ x, y, width, height }, at) => {
          expect(width * height).toBeCloseTo((values[at]! / total) * 60_000, 3);
          expect(x).toBeGreaterThanOrEqual(AREA.x - 1e-6);
          expect(y).toBeGreaterThanOrEqual(AREA.y - 1e-6);
          expect(x + width).toBeLessThanOrEqual(AREA.x + AREA.width + 1e-6);
          expect(y + height).toBeLessThanOrEqual(AREA.y + AREA.height + 1e-6);
          for (const other of boxes.slice(at + 1)) {
            const isApart =
              x + width <= other.x + 1e-6 ||
              other.x + other.width <= x + 1e-6 ||
              y + height <= other.y + 1e-6 ||
              other.y + other.height <= y + 1e-6;
            expect(isApart).toBe(true);
          }
        });
      }),
      { numRuns: runs(200) },
    );
  });

  test('prefers squares to strips', () => {
    const [first] = treemap([1, 1, 1, 1], { x: 0, y: 0, width: 100, height: 100 });
    expect(first).toEqual({ x: 0, y: 0, width: 50, height: 50 });
  });
});
