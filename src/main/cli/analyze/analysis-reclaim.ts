// What pruning reclaims, counted: from attributions of edits to tokens by rule and by tool. Decides
// nothing about what goes.

import { PRUNING_RULES } from '../../../density.js';
import type { IContent } from '../../../index.js';
import type { RuleName } from '../../../density.js';
import type { RuleExample, RuleFigures, Subject } from './analysis-report.js';
import type { Attribution } from '../measure/attribution.js';
import { namePaths } from '../measure/call-subject.js';
import { groupBy } from '../measure/group-by.js';

/** Counts the tokens of each entry, in their order. */
export type CountEach = (contents: readonly IContent[]) => Promise<readonly number[]>;

/** A part of an edit whose tokens are known. */
export interface CountedAttribution extends Attribution {
  readonly rule: RuleName;
  /** Tokens reclaimed; below 0 when what took the place is longer. */
  readonly tokens: number;
}

/** Counts what attributions of pruning come to, all at once. */
export async function countAttributions(
  attributions: readonly Attribution[],
  countEach: CountEach,
): Promise<readonly CountedAttribution[]> {
  const sides = attributions.flatMap(({ before, after }) =>
    [before, after].filter((side) => side !== null),
  );
  const counts = (await countEach(sides)).values();
  const next = (side: IContent | null): number => (side === null ? 0 : (counts.next().value ?? 0));
  return attributions.flatMap((attribution) => {
    const tokens = next(attribution.before) - next(attribution.after);
    const rule = PRUNING_RULES.find(({ name }) => name === attribution.rule);
    return rule === undefined ? [] : [{ ...attribution, rule: rule.name, tokens }];
  });
}

/** What each rule reclaims; rules that reclaim nothing are left out. */
export function figuresByRule(counted: readonly CountedAttribution[]): readonly RuleFigures[] {
  const groups = groupBy(counted, ({ rule }) => rule);
  return PRUNING_RULES.flatMap(({ name: rule }) => {
    const group = groups.get(rule) ?? [];
    if (group.length === 0) return [];
    return [{ rule, items: sumOf(group, 'items'), tokens: sumOf(group, 'tokens') }];
  });
}

/** The largest things that a rule reclaims, largest first; a call and its response are one. */
export function largestExamples(
  counted: readonly CountedAttribution[],
  rule: RuleName,
  subjects: ReadonlyMap<string, Subject>,
  limit: number,
): readonly RuleExample[] {
  const groups = groupBy<CountedAttribution, unknown>(
    counted.filter((attribution) => attribution.rule === rule),
    (attribution) => attribution.callId ?? attribution,
  );
  return Array.from(groups.values(), (group) => {
    const [{ callId, toolName, includedPaths }] = group;
    const subject = subjects.get(callId ?? '');
    return {
      tool: toolName,
      path: subject?.path ?? namePaths(includedPaths),
      excerpt: subject?.excerpt ?? null,
      tokens: sumOf(group, 'tokens'),
    };
  })
    .filter(({ tokens }) => tokens > 0)
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, limit);
}

function sumOf(group: readonly CountedAttribution[], what: 'items' | 'tokens'): number {
  return group.reduce((sum, attribution) => sum + attribution[what], 0);
}
