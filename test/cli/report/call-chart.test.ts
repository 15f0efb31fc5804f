// The coordinates of charts over the model calls.

import { describe, expect, test } from 'vitest';
import { areaOf, callChart, callLabels, lineOf } from '../../../src/cli/report/call-chart.js';

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `${at + 1}`);

const labelsOf = (count: number): string[] =>
  callLabels(names(count), 0).map(({ text }) => />\s*([^<]*?)\s*</.exec(text)?.[1] ?? '');

describe('lineOf and areaOf', () => {
  test('draw one step per call, from the bottom up, and join calls of equal height', () => {
    expect(lineOf([50, 100, 100, 0], 100)).toBe('M0 500V500H1V0H3V1000H4');
    expect(areaOf([50, 100], 100)).toBe('M0 1000V500H1V0H2V1000Z');
    expect(areaOf([], 1)).toBe('M0 1000V1000Z');
  });
});

describe('callLabels', () => {
  test.each([
    [1, ['call 1']],
    [3, ['call 1', '2', '3']],
    [33, ['call 1', '6', '11', '16', '21', '26', '31']],
    [1_001, ['call 1', '201', '401', '601', '801']],
  ])('leaves room for each label of %d calls, also the last', (count, labels) => {
    expect(labelsOf(count)).toEqual(labels);
  });
});

describe('callChart', () => {
  test('draws round numbers of tokens, and marks between the edges of their calls', () => {
    const { text } = callChart({
      ...{ names: names(4), top: 48_000, label: 'a <chart>', paths: [] },
      marks: [{ sign: '▼', calls: [0, 3] }],
    });
    expect(text).toContain('aria-label="a &lt;chart&gt;"');
    expect(text.match(/[\d.]+K/g)).toEqual(['10K', '20K', '30K', '40K']);
    expect(text).toMatch(/<text x="12\.5% 87\.5%"[^>]*>▼▼</);
  });

  test('leaves out marks that would touch the one before them', () => {
    const calls = Array.from({ length: 3_000 }, (_, at) => at);
    const { text } = callChart({
      ...{ names: names(3_000), top: 1, label: 'chart', paths: [] },
      marks: [{ sign: '▼', calls }],
    });
    expect(text).toContain(`>${'▼'.repeat(60)}<`);
  });
});
