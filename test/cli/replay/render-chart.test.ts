// The chart at the edges: no calls, one call, more calls than columns.

import { describe, expect, test } from 'vitest';
import { renderChart } from '../../../src/cli/replay/render-chart.js';
import type { TokenPair } from '../../../src/cli/replay/money.js';
import { createPaint } from '../../../src/cli/terminal/terminal-layout.js';

const chart = (calls: readonly TokenPair[], width = 40): readonly string[] =>
  renderChart(calls, { width, listWidth: width, paint: createPaint(false) });

describe('renderChart', () => {
  test('draws nothing without calls', () => {
    expect(chart([])).toEqual([]);
    expect(chart([{ without: 0, with: 0 }])).toEqual([]);
  });

  test('numbers a single call once', () => {
    expect(
      chart([{ without: 10, with: 10 }])
        .at(-1)
        ?.trim(),
    ).toBe('1');
  });

  test.each([2, 3, 17, 37, 38, 200, 5_000, 70_000])(
    'fits %i calls and ends with the last',
    (length) => {
      const calls = Array.from({ length }, (_, at) => ({ without: at + 1, with: (at + 1) / 2 }));
      const lines = chart(calls);
      expect(lines).toHaveLength(12);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
      expect(lines.at(-1)).toMatch(new RegExp(`^ +1 .*${length.toLocaleString('en-US')}$`));
      expect(lines.at(-1)?.length).toBe(lines.at(-2)?.length);
    },
  );

  test('shades the tokens that are not sent, and nothing if both are equal', () => {
    expect(chart([{ without: 10, with: 5 }])[0]).toContain('░');
    expect(chart([{ without: 10, with: 10 }]).join('')).not.toContain('░');
  });
});
