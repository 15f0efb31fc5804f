// Analyzes the content of a played session: its composition, what each rule removed, and what stays and why. Pure.

import type { IContent } from '../../../index.js';
import type { ReclaimRule } from '../measure/attribution.js';
import { RECLAIM_RULES } from '../measure/attribution.js';
import { CATEGORIES, categoryOf, Composition, tokensByBlock } from '../measure/composition.js';
import { callOf } from '../measure/entry-difference.js';
import { addTo, groupBy, sumOf } from '../measure/aggregate.js';
import { reclaimedBy } from '../replay/edit-row.js';
import type { EditRow } from '../replay/edit-row.js';
import type { Recording } from '../replay/recording.js';
import { stopMessage } from '../replay/replay-report.js';
import { STAY_REASONS } from './analysis-report.js';
import type {
  CategoryFigures,
  HistoryAnalysis,
  ResultFigures,
  RuleReport,
  StayFigures,
  StayingEntry,
  StayReason,
  Subject,
  ToolFigures,
} from './analysis-report.js';
import { EXAMPLES_PER_RULE } from './analysis-totals.js';
import { Retention } from './analysis-retention.js';
import { copiedSubject, NO_SUBJECT, subjectOfBlock, subjectsOfCalls } from './analysis-subjects.js';

const LARGEST_STAYING = 5;

type TokensOf = Recording['tokensOf'];

/** An entry that is left, with the reason of each of its blocks. */
interface LeftEntry {
  readonly entry: IContent;
  /** Index in the transcript; `null` for entries that a compression inserted. */
  readonly origin: number | null;
  readonly reasons: readonly StayReason[];
}

/** Returns the analysis of a played session. */
export function analyzeRecording(recording: Recording): HistoryAnalysis {
  const { report, rows, contexts, density, tokensOf } = recording;
  const said = contexts.flatMap((context) => context.said);
  const left = contexts.flatMap((context): readonly LeftEntry[] => {
    const retention = new Retention(context, density);
    return context.left.map((entry, at) => ({
      entry,
      origin: context.origins[at] ?? null,
      reasons: retention.reasonsOf(entry, at),
    }));
  });
  const subjects = subjectsOfCalls(said, density.toolCatalog ?? {});
  const [before, after] = [
    compose(said, tokensOf),
    compose(
      left.map(({ entry }) => entry),
      tokensOf,
    ),
  ];
  return {
    entries: report.entries,
    modelCalls: report.modelCalls.length,
    tokens: { without: sumOf(said, tokensOf), with: sumOf(left, ({ entry }) => tokensOf(entry)) },
    end: report.end.tokens,
    input: report.input,
    money: report.money,
    contextLimit: report.settings.contextLimit,
    stop: stopMessage(report),
    categories: categoryFigures(before, after),
    tools: toolFigures(before, after, largestResults(said, tokensOf, subjects)),
    rules: ruleReports(rows),
    stays: stayFigures(left, tokensOf),
    largestStaying: largestStaying(left, tokensOf, subjects),
  };
}

function compose(entries: readonly IContent[], tokensOf: TokensOf): Composition {
  const composition = new Composition();
  for (const entry of entries) composition.add(entry, tokensOf(entry));
  return composition;
}

function categoryFigures(before: Composition, after: Composition): readonly CategoryFigures[] {
  return CATEGORIES.map((category) => {
    const tokens = before.byCategory.get(category) ?? 0;
    return {
      category,
      blocks: before.blocksByCategory.get(category) ?? 0,
      tokens,
      reclaimedTokens: tokens - (after.byCategory.get(category) ?? 0),
    };
  });
}

function toolFigures(
  before: Composition,
  after: Composition,
  largest: ReadonlyMap<string, ResultFigures>,
): readonly ToolFigures[] {
  return Array.from(before.byTool, ([tool, share]) => {
    const left = after.byTool.get(tool);
    return {
      tool,
      ...share,
      // After an edit, the tokens of an entry are split anew over its results, so one can seem to grow.
      reclaimedCallTokens: Math.max(0, share.callTokens - (left?.callTokens ?? 0)),
      reclaimedResultTokens: Math.max(0, share.resultTokens - (left?.resultTokens ?? 0)),
      largestResult: largest.get(tool) ?? null,
    };
  }).sort((a, b) => b.resultTokens - a.resultTokens);
}

function largestResults(
  entries: readonly IContent[],
  tokensOf: TokensOf,
  subjects: ReadonlyMap<string, Subject>,
): ReadonlyMap<string, ResultFigures> {
  const largest = new Map<string, ResultFigures>();
  for (const entry of entries) {
    if (!entry.blocks.some(({ type }) => type === 'tool_response')) continue;
    const parts = tokensByBlock(entry, tokensOf(entry));
    for (const [place, block] of entry.blocks.entries()) {
      if (block.type !== 'tool_response') continue;
      const tokens = parts[place] ?? 0;
      if (tokens <= (largest.get(block.toolName)?.tokens ?? -1)) continue;
      largest.set(block.toolName, { tokens, ...(subjects.get(block.callId) ?? NO_SUBJECT) });
    }
  }
  return largest;
}

function ruleReports(rows: readonly EditRow[]): readonly RuleReport[] {
  const byRule = groupBy<EditRow, ReclaimRule>(rows, ({ rule }) => rule);
  return RECLAIM_RULES.flatMap((rule) => {
    const those = byRule.get(rule);
    if (those === undefined) return [];
    return [
      {
        rule,
        items: sumOf(those, ({ items }) => items),
        tokens: sumOf(those, reclaimedBy),
        examples: those
          .filter((row) => reclaimedBy(row) > 0)
          .sort((a, b) => reclaimedBy(b) - reclaimedBy(a))
          .slice(0, EXAMPLES_PER_RULE)
          .map((row) => ({
            tool: row.tool,
            ...copiedSubject(row.subject),
            tokens: reclaimedBy(row),
          })),
      },
    ];
  });
}

function stayFigures(left: readonly LeftEntry[], tokensOf: TokensOf): readonly StayFigures[] {
  const items = new Map<StayReason, number>();
  const tokens = new Map<StayReason, number>();
  for (const { entry, reasons } of left) {
    const total = tokensOf(entry);
    if (entry.blocks.length === 0) addTo(tokens, 'other', total);
    const parts = tokensByBlock(entry, total);
    for (const [place, block] of entry.blocks.entries()) {
      const reason = reasons[place] ?? 'other';
      addTo(tokens, reason, parts[place] ?? 0);
      addTo(items, reason, block.type === 'tool_response' ? 0 : 1);
    }
  }
  return STAY_REASONS.flatMap((reason) => {
    const kept = tokens.get(reason);
    return kept === undefined ? [] : [{ reason, items: items.get(reason) ?? 0, tokens: kept }];
  });
}

function largestStaying(
  left: readonly LeftEntry[],
  tokensOf: TokensOf,
  subjects: ReadonlyMap<string, Subject>,
): readonly StayingEntry[] {
  return [...left]
    .sort((a, b) => tokensOf(b.entry) - tokensOf(a.entry))
    .slice(0, LARGEST_STAYING)
    .flatMap(({ entry, origin, reasons }) => {
      const tokens = tokensOf(entry);
      const parts = tokensByBlock(entry, tokens);
      const place = parts.indexOf(Math.max(...parts));
      const block = entry.blocks[place];
      if (block === undefined) return [];
      return [
        {
          entry: origin,
          speaker: entry.speaker,
          category: categoryOf(block, entry),
          tool: callOf(block).toolName,
          tokens,
          reason: reasons[place] ?? 'other',
          ...subjectOfBlock(block, subjects),
        },
      ];
    });
}
