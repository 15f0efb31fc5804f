// Analyzes one history: what it consists of, what pruning reclaims, and what stays and why. Pure but
// for the counting of tokens, which it is given; reads and prints nothing.

import {
  applyDensityResult,
  DEFAULT_DENSITY_CONFIG,
  explainDensity,
  listRuleEdits,
  PRUNING_RULES,
} from '../../../density.js';
import type { ContentBlock, IContent } from '../../../index.js';
import type { DensityConfig, DensityExplanation } from '../../../density.js';
import type { Transcript } from '../../../transcripts.js';
import { countAttributions, figuresByRule, largestExamples } from './analysis-reclaim.js';
import type { CountedAttribution, CountEach } from './analysis-reclaim.js';
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
import { Retention } from './analysis-retention.js';
import { NO_SUBJECT, subjectOfBlock, subjectsOfCalls } from './analysis-subjects.js';
import { attributePass } from '../measure/attribution.js';
import type { Attribution } from '../measure/attribution.js';
import { CATEGORIES, categoryOf, Composition, tokensByBlock } from '../measure/composition.js';
import { densityConfigAtRest } from '../measure/density-config.js';
import type { PruningOptions } from '../measure/density-config.js';
import { groupBy } from '../measure/group-by.js';
import { contextAt, contextsOf } from '../measure/contexts.js';
import type { Context } from '../measure/contexts.js';

/** How to analyze a history. */
export interface AnalysisOptions extends PruningOptions {
  readonly countEach: CountEach;
}

const EXAMPLES_PER_RULE = 3;
const LARGEST_STAYING = 5;

/** One history as pruning leaves it. */
interface PrunedHistory {
  readonly entries: readonly IContent[];
  /** Indices of these at which a context begins, but for the first. */
  readonly contextStarts: readonly number[];
  /** By entry of these, its index in the whole history. */
  readonly indices: readonly number[];
  readonly attributions: readonly Attribution[];
  /** Why the rest stays. */
  readonly retention: Retention;
}

interface PrunedContext extends Context, Pick<PrunedHistory, 'attributions'> {
  readonly left: readonly IContent[];
  /** By entry of these, its index in the context. */
  readonly indices: readonly number[];
  readonly explain: DensityExplanation['explain'];
}

/** A pruned history whose tokens are known. */
interface CountedHistory extends PrunedHistory {
  /** By entry that is left. */
  readonly tokens: readonly number[];
  readonly reclaimed: readonly CountedAttribution[];
}

/** Analyzes a transcript. @throws what counting throws. */
export async function analyzeHistory(
  transcript: Pick<Transcript, 'entries' | 'contextStarts' | 'preset' | 'workspaceRoot'>,
  options: AnalysisOptions,
): Promise<HistoryAnalysis> {
  const { entries, preset } = transcript;
  const { countEach, recencyRetention } = options;
  const counts = await countEach(entries);
  const known = new Map(entries.map((entry, at) => [entry, counts[at] ?? 0]));
  const config = densityConfigAtRest(transcript, options);
  const pruned = await countPruned(pruneHistory(transcript, config), known, countEach);
  const untried =
    recencyRetention === undefined ? await countOldResults(pruned, config, countEach) : undefined;
  const subjects = subjectsOfCalls(entries, preset.toolCatalog);
  const before = compose(entries, counts);
  return {
    entries: entries.length,
    tokens: { without: sum(counts), with: sum(pruned.tokens) },
    categories: categoryFigures(before, compose(pruned.entries, pruned.tokens)),
    tools: toolFigures(before, pruned.reclaimed, largestResults(entries, counts, subjects)),
    rules: ruleReports(pruned.reclaimed, untried, recencyRetention, subjects),
    stays: stayFigures(pruned),
    largestStaying: largestStaying(pruned, subjects),
  };
}

/** Prunes each context by itself. */
function pruneHistory(
  transcript: Pick<Transcript, 'entries' | 'contextStarts'>,
  config: DensityConfig,
): PrunedHistory {
  const prune = (context: Context): PrunedContext => pruneContext(context, config);
  const [first, ...others] = contextsOf(transcript);
  const contexts = [prune(first), ...others.map(prune)] as const;
  let left = 0;
  const starts = contexts.map((context) => (left += context.left.length) - context.left.length);
  return {
    entries: contexts.flatMap((context) => context.left),
    contextStarts: starts.slice(1),
    indices: contexts.flatMap(({ start, indices }) => indices.map((index) => start + index)),
    attributions: contexts.flatMap(({ attributions }) => attributions),
    retention: new Retention((index) => {
      const { start, explain } = contextAt(contexts, index);
      return explain(index - start);
    }, config),
  };
}

function pruneContext(context: Context, config: DensityConfig): PrunedContext {
  const { entries } = context;
  const { result, explain } = explainDensity(entries, config);
  const left = [...entries];
  applyDensityResult(left, result);
  const removed = new Set(result.removals);
  return {
    ...context,
    left,
    indices: Array.from(entries.keys()).filter((index) => !removed.has(index)),
    attributions: attributePass(
      entries.flatMap((before, index) => {
        const after = result.replacements.get(index) ?? null;
        return after === null && !removed.has(index) ? [] : [{ index, before, after }];
      }),
      result.rows === undefined
        ? []
        : listRuleEdits(result.rows, (index) => entries[index]?.blocks),
    ),
    explain,
  };
}

async function countPruned(
  pruned: PrunedHistory,
  known: ReadonlyMap<IContent, number>,
  countEach: CountEach,
): Promise<CountedHistory> {
  const fresh = pruned.entries.filter((entry) => !known.has(entry));
  const counts = await countEach(fresh);
  const ofFresh = new Map(fresh.map((entry, at) => [entry, counts[at] ?? 0]));
  return {
    ...pruned,
    tokens: pruned.entries.map((entry) => known.get(entry) ?? ofFresh.get(entry) ?? 0),
    reclaimed: await countAttributions(pruned.attributions, countEach),
  };
}

/** What recency pruning would take of a history besides, that was pruned without it. */
function countOldResults(
  history: PrunedHistory,
  config: DensityConfig,
  countEach: CountEach,
): Promise<readonly CountedAttribution[]> {
  const { attributions } = pruneHistory(history, { ...config, recencyPruning: true });
  return countAttributions(
    attributions.filter(({ rule }) => rule === 'recency'),
    countEach,
  );
}

function compose(entries: readonly IContent[], tokens: readonly number[]): Composition {
  const composition = new Composition();
  entries.forEach((entry, at) => {
    composition.add(entry, tokens[at] ?? 0);
  });
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
  composition: Composition,
  reclaimed: readonly CountedAttribution[],
  largest: ReadonlyMap<string, ResultFigures>,
): readonly ToolFigures[] {
  const byTool = groupBy(reclaimed, ({ toolName }) => toolName);
  return Array.from(composition.byTool, ([tool, share]) => ({
    tool,
    ...share,
    reclaimed: figuresByRule(byTool.get(tool) ?? []),
    largestResult: largest.get(tool) ?? null,
  })).sort((a, b) => b.resultTokens - a.resultTokens);
}

function largestResults(
  entries: readonly IContent[],
  counts: readonly number[],
  subjects: ReadonlyMap<string, Subject>,
): ReadonlyMap<string, ResultFigures> {
  const largest = new Map<string, ResultFigures>();
  for (const [at, entry] of entries.entries()) {
    if (!entry.blocks.some(({ type }) => type === 'tool_response')) continue;
    const parts = tokensByBlock(entry, counts[at] ?? 0);
    for (const [place, block] of entry.blocks.entries()) {
      if (block.type !== 'tool_response') continue;
      const tokens = parts[place] ?? 0;
      if (tokens <= (largest.get(block.toolName)?.tokens ?? -1)) continue;
      largest.set(block.toolName, { tokens, ...(subjects.get(block.callId) ?? NO_SUBJECT) });
    }
  }
  return largest;
}

function ruleReports(
  reclaimed: readonly CountedAttribution[],
  untried: readonly CountedAttribution[] | undefined,
  recencyRetention: number | undefined,
  subjects: ReadonlyMap<string, Subject>,
): readonly RuleReport[] {
  return PRUNING_RULES.map(({ name: rule }) => {
    const isOn = rule !== 'recency' || untried === undefined;
    const counted = isOn ? reclaimed : untried;
    const figures = figuresByRule(counted).find((found) => found.rule === rule);
    return {
      rule,
      isOn,
      recencyRetention:
        rule === 'recency' ? (recencyRetention ?? DEFAULT_DENSITY_CONFIG.recencyRetention) : null,
      items: figures?.items ?? 0,
      tokens: figures?.tokens ?? 0,
      examples: largestExamples(counted, rule, subjects, EXAMPLES_PER_RULE),
    };
  });
}

function stayFigures(history: CountedHistory): readonly StayFigures[] {
  const items = new Map<StayReason, number>();
  const tokens = new Map<StayReason, number>();
  const raise = (sums: Map<StayReason, number>, reason: StayReason, by: number): void => {
    sums.set(reason, (sums.get(reason) ?? 0) + by);
  };
  for (const [at, entry] of history.entries.entries()) {
    const total = history.tokens[at] ?? 0;
    if (entry.blocks.length === 0) raise(tokens, 'other', total);
    const parts = tokensByBlock(entry, total);
    const reasons = history.retention.reasonsOf(entry, history.indices[at] ?? at);
    for (const [place, block] of entry.blocks.entries()) {
      const reason = reasons[place] ?? 'other';
      raise(tokens, reason, parts[place] ?? 0);
      raise(items, reason, block.type === 'tool_response' ? 0 : 1);
    }
  }
  return STAY_REASONS.flatMap((reason) => {
    const kept = tokens.get(reason);
    return kept === undefined ? [] : [{ reason, items: items.get(reason) ?? 0, tokens: kept }];
  });
}

function largestStaying(
  history: CountedHistory,
  subjects: ReadonlyMap<string, Subject>,
): readonly StayingEntry[] {
  return Array.from(history.entries.keys())
    .sort((a, b) => (history.tokens[b] ?? 0) - (history.tokens[a] ?? 0))
    .slice(0, LARGEST_STAYING)
    .flatMap((at) => {
      const entry = history.entries[at];
      if (entry === undefined) return [];
      const tokens = history.tokens[at] ?? 0;
      const parts = tokensByBlock(entry, tokens);
      const place = parts.indexOf(Math.max(...parts));
      const block = entry.blocks[place];
      if (block === undefined) return [];
      const index = history.indices[at] ?? at;
      return [
        {
          entry: index,
          speaker: entry.speaker,
          category: categoryOf(block, entry),
          tool: toolOf(block),
          tokens,
          reason: history.retention.reasonsOf(entry, index)[place] ?? 'other',
          ...subjectOfBlock(block, subjects),
        },
      ];
    });
}

function toolOf(block: ContentBlock): string | null {
  if (block.type === 'tool_call') return block.name;
  return block.type === 'tool_response' ? block.toolName : null;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
