// Sums up the analyses of several sessions.

import { STAY_REASONS } from './analysis-report.js';
import type {
  AnalysisFigures,
  CategoryFigures,
  SessionAnalysis,
  StayFigures,
  ToolFigures,
} from './analysis-report.js';
import { RECLAIM_RULES } from '../measure/attribution.js';
import { CATEGORIES } from '../measure/composition.js';
import { groupBy, largestFirst, sumsOf } from '../measure/aggregate.js';
import { sumInput } from '../replay/money.js';
import { sumPairs } from '../replay/replay-totals.js';

export const EXAMPLES_PER_RULE = 3;

/** Sums up sessions that were analyzed with the same settings. Without sessions, the sums are zero. */
export function sumAnalyses(sessions: readonly SessionAnalysis[]): AnalysisFigures {
  return {
    ...sumsOf(sessions, ['entries', 'modelCalls']),
    tokens: sumPairs(sessions.map(({ tokens }) => tokens)),
    money: sumInput(sessions.map(({ money }) => money)),
    input: sumPairs(sessions.map(({ input }) => input)),
    categories: sumCategories(sessions.flatMap(({ categories }) => categories)),
    tools: sumTools(sessions.flatMap(({ tools }) => tools)),
    rules: RECLAIM_RULES.flatMap((rule) => {
      const those = sessions.flatMap(({ rules }) => rules).filter((report) => report.rule === rule);
      if (those.length === 0) return [];
      const examples = largestFirst(
        those.flatMap((report) => report.examples),
        ({ tokens }) => tokens,
      );
      const sums = sumsOf(those, ['items', 'tokens']);
      return [{ rule, ...sums, examples: examples.slice(0, EXAMPLES_PER_RULE) }];
    }),
    stays: sumStays(sessions.flatMap(({ stays }) => stays)),
  };
}

/** Sums up figures by category. */
export function sumCategories(figures: readonly CategoryFigures[]): readonly CategoryFigures[] {
  const byCategory = groupBy(figures, ({ category }) => category);
  return CATEGORIES.map((category) => {
    const those = byCategory.get(category) ?? [];
    return { category, ...sumsOf(those, ['blocks', 'tokens', 'reclaimedTokens']) };
  });
}

/** Sums up figures by reason, without reasons that keep nothing. */
export function sumStays(figures: readonly StayFigures[]): readonly StayFigures[] {
  const byReason = groupBy(figures, ({ reason }) => reason);
  return STAY_REASONS.flatMap((reason) => {
    const those = byReason.get(reason);
    return those === undefined ? [] : [{ reason, ...sumsOf(those, ['items', 'tokens']) }];
  });
}

const TOOL_FIGURES = [
  'calls',
  'callTokens',
  'resultTokens',
  'reclaimedCallTokens',
  'reclaimedResultTokens',
] as const;

/** Sums up tools by name. Tools of different agents with the same name count as one. */
function sumTools(tools: readonly ToolFigures[]): readonly ToolFigures[] {
  const sums = Array.from(
    groupBy(tools, ({ tool }) => tool),
    ([tool, those]): ToolFigures => {
      const largest = those.flatMap(({ largestResult }) => largestResult ?? []);
      const [largestResult = null] = largestFirst(largest, ({ tokens }) => tokens);
      return { tool, ...sumsOf(those, TOOL_FIGURES), largestResult };
    },
  );
  return largestFirst(sums, ({ resultTokens }) => resultTokens);
}
