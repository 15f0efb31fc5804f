// Sums over sessions.

import { describe, expect, test } from 'vitest';
import type { SessionAnalysis } from '../../../src/cli/analyze/analysis-report.js';
import { sumInput } from '../../../src/cli/replay/money.js';
import { sumAnalyses } from '../../../src/cli/analyze/analysis-totals.js';

const NO_MONEY = {
  ...sumInput([]),
  price: { price: { name: 'm', input: 1, cacheRead: 1, cacheWrite: 1 }, origin: 'recorded' },
} as const;

const ONE: SessionAnalysis = {
  money: NO_MONEY,
  file: 'one.jsonl',
  format: 'claude-code',
  entries: 4,
  modelCalls: 3,
  tokens: { without: 1_000, with: 700 },
  end: { without: 1_000, with: 700 },
  input: { without: 2_000, with: 1_500 },
  contextLimit: 200_000,
  stop: null,
  categories: [
    { category: 'user-text', blocks: 1, tokens: 100, reclaimedTokens: 0 },
    { category: 'tool-result', blocks: 2, tokens: 900, reclaimedTokens: 300 },
  ],
  tools: [
    {
      tool: 'Read',
      calls: 2,
      callTokens: 20,
      resultTokens: 880,
      reclaimedCallTokens: 10,
      reclaimedResultTokens: 290,
      largestResult: { tokens: 500, path: 'a.ts', excerpt: null },
    },
  ],
  rules: [
    {
      rule: 'read-write',
      items: 1,
      tokens: 300,
      examples: [{ tool: 'Read', path: 'a.ts', excerpt: null, tokens: 300 }],
    },
  ],
  stays: [
    { reason: 'user-text', items: 1, tokens: 100 },
    { reason: 'current-read', items: 1, tokens: 600 },
  ],
  largestStaying: [],
  warnings: [],
};

const OTHER: SessionAnalysis = {
  ...ONE,
  file: 'other.jsonl',
  entries: 2,
  modelCalls: 1,
  tokens: { without: 50, with: 50 },
  input: { without: 40, with: 40 },
  categories: [{ category: 'thinking', blocks: 1, tokens: 50, reclaimedTokens: 0 }],
  tools: [
    {
      tool: 'Read',
      calls: 1,
      callTokens: 5,
      resultTokens: 10,
      reclaimedCallTokens: 0,
      reclaimedResultTokens: 0,
      largestResult: { tokens: 10, path: 'b.ts', excerpt: null },
    },
    {
      tool: 'Bash',
      calls: 1,
      callTokens: 5,
      resultTokens: 2_000,
      reclaimedCallTokens: 0,
      reclaimedResultTokens: 0,
      largestResult: null,
    },
  ],
  rules: [
    {
      rule: 'read-write',
      items: 2,
      tokens: 800,
      examples: [
        { tool: 'Read', path: 'c.ts', excerpt: null, tokens: 450 },
        { tool: 'Read', path: 'd.ts', excerpt: null, tokens: 350 },
        { tool: 'Read', path: 'e.ts', excerpt: null, tokens: 10 },
      ],
    },
  ],
  stays: [{ reason: 'thinking', items: 1, tokens: 50 }],
};

describe('sumAnalyses', () => {
  const totals = sumAnalyses([ONE, OTHER]);

  test('adds up entries, tokens, categories and reasons', () => {
    expect(totals).toMatchObject({ entries: 6, tokens: { without: 1_050, with: 750 } });
    const categories = totals.categories.filter(({ tokens }) => tokens > 0);
    expect(categories).toEqual([
      { category: 'user-text', blocks: 1, tokens: 100, reclaimedTokens: 0 },
      { category: 'thinking', blocks: 1, tokens: 50, reclaimedTokens: 0 },
      { category: 'tool-result', blocks: 2, tokens: 900, reclaimedTokens: 300 },
    ]);
    expect(totals.stays).toEqual([
      { reason: 'user-text', items: 1, tokens: 100 },
      { reason: 'thinking', items: 1, tokens: 50 },
      { reason: 'current-read', items: 1, tokens: 600 },
    ]);
  });

  test('merges tools of the same name, and keeps the largest result', () => {
    expect(totals.tools.map(({ tool, resultTokens }) => [tool, resultTokens])).toEqual([
      ['Bash', 2_000],
      ['Read', 890],
    ]);
    expect(totals.tools[1]).toMatchObject({
      calls: 3,
      callTokens: 25,
      reclaimedCallTokens: 10,
      reclaimedResultTokens: 290,
      largestResult: { path: 'a.ts' },
    });
  });

  test('adds up a rule, and keeps its largest examples', () => {
    expect(totals.rules).toMatchObject([{ rule: 'read-write', items: 3, tokens: 1_100 }]);
    expect(totals.rules[0]?.examples.map(({ path }) => path)).toEqual(['c.ts', 'd.ts', 'a.ts']);
  });

  test('returns zeros for no sessions', () => {
    expect(sumAnalyses([])).toMatchObject({
      entries: 0,
      tokens: { without: 0, with: 0 },
      tools: [],
      rules: [],
      stays: [],
    });
  });
});
