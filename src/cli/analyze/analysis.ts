// Analyzes the content of a played session: its composition, what each rule removed, and what stays and why. Pure functions.

import type { ContentBlock, IContent } from '../../index.js';
import { sharesIn, sharesOf, toolDifferences } from '../measure/composition.js';
import type { BlockShare } from '../measure/composition.js';
import { NO_SUBJECT, shortExcerpt } from '../measure/call-subject.js';
import type { Subject } from '../measure/call-subject.js';
import { callOf } from '../measure/entry-difference.js';
import { groupBy, largestFirst } from '../measure/aggregate.js';
import { excerptOf, largestRows, reclaimedBy, textOf } from '../replay/edit-row.js';
import type { Recording } from '../replay/recording.js';
import { stopMessage } from '../replay/replay-report.js';
import type {
  CategoryFigures,
  ResultFigures,
  RuleReport,
  SessionAnalysis,
  StayFigures,
  StayingEntry,
  StayReason,
  ToolFigures,
} from './analysis-report.js';
import { EXAMPLES_PER_RULE, sumCategories, sumStays } from './analysis-totals.js';
import { explainStays } from './analysis-retention.js';

const LARGEST_STAYING = 5;

/** An entry that remains at the end of its context, with the reason of each of its blocks. */
interface LeftEntry {
  readonly entry: IContent;
  /** Index in the transcript; `null` for entries that a compression inserted. */
  readonly origin: number | null;
  readonly reasons: readonly StayReason[];
}

/** Returns the analysis of a played session. */
export function analyzeRecording(recording: Recording): SessionAnalysis {
  const { report, contexts, density, tokensOf } = recording;
  const added = contexts.flatMap((context) => context.added);
  const left = contexts.flatMap((context): readonly LeftEntry[] => {
    const reasonsOf = explainStays(context, density);
    return context.remaining.map((entry, at) => ({
      entry,
      origin: context.origins[at] ?? null,
      reasons: reasonsOf(entry, at),
    }));
  });
  const before = sharesIn(added, tokensOf);
  const after = sharesIn(
    left.map(({ entry }) => entry),
    tokensOf,
  );
  return {
    file: report.file,
    format: report.format,
    entries: report.entries,
    modelCalls: report.modelCalls.length,
    tokens: report.tokens,
    end: report.end.tokens,
    input: report.input,
    money: report.money,
    contextLimit: report.settings.contextLimit,
    stop: stopMessage(report),
    categories: sumCategories([...before.map(figuresOf), ...after.map(leftOf)]),
    tools: toolFigures(before, after, largestResults(recording)),
    rules: ruleReports(recording),
    stays: sumStays(left.flatMap((entry) => stayFigures(entry, tokensOf))),
    largestStaying: largestStaying(left, recording),
    warnings: report.warnings,
  };
}

function figuresOf({ block, category, tokens }: BlockShare): CategoryFigures {
  return { category, blocks: block === null ? 0 : 1, tokens, reclaimedTokens: tokens };
}

/** Returns what a block that is left takes from the figures of its category. */
function leftOf({ category, tokens }: BlockShare): CategoryFigures {
  return { category, blocks: 0, tokens: 0, reclaimedTokens: -tokens };
}

function toolFigures(
  before: readonly BlockShare[],
  after: readonly BlockShare[],
  largest: ReadonlyMap<string, ResultFigures>,
): readonly ToolFigures[] {
  const tools = toolDifferences(before, after).map((tool) => ({
    ...tool,
    largestResult: largest.get(tool.tool) ?? null,
  }));
  return largestFirst(tools, ({ resultTokens }) => resultTokens);
}

function largestResults({ lives }: Recording): ReadonlyMap<string, ResultFigures> {
  const largest = new Map<string, ResultFigures>();
  for (const { tool, tokens, subject } of lives) {
    if (tokens <= (largest.get(tool)?.tokens ?? -1)) continue;
    largest.set(tool, { tokens, ...(subject ?? NO_SUBJECT) });
  }
  return largest;
}

function ruleReports({ report, rows }: Recording): readonly RuleReport[] {
  const largest = groupBy(largestRows(rows), ({ rule }) => rule);
  return report.reclaimed.map((total) => ({
    ...total,
    examples: (largest.get(total.rule) ?? []).slice(0, EXAMPLES_PER_RULE).map((row) => ({
      tool: row.tool,
      ...(row.subject ?? { path: null, excerpt: shortExcerpt(excerptOf(row)) }),
      tokens: reclaimedBy(row),
    })),
  }));
}

function stayFigures(
  { entry, reasons }: LeftEntry,
  tokensOf: Recording['tokensOf'],
): readonly StayFigures[] {
  return sharesOf(entry, tokensOf(entry)).map(({ block, tokens }, at) => ({
    reason: reasons[at] ?? 'other',
    items: block === null || block.type === 'tool_response' ? 0 : 1,
    tokens,
  }));
}

function largestStaying(
  left: readonly LeftEntry[],
  { tokensOf, subjects }: Recording,
): readonly StayingEntry[] {
  return largestFirst(left, ({ entry }) => tokensOf(entry))
    .slice(0, LARGEST_STAYING)
    .flatMap(({ entry, origin, reasons }) => {
      const tokens = tokensOf(entry);
      const shares = sharesOf(entry, tokens).map((share, at) => ({ ...share, at }));
      const [largest] = largestFirst(shares, (share) => share.tokens);
      if (!largest?.block) return [];
      const { block, category, tool, at } = largest;
      return [
        {
          ...{ entry: origin, speaker: entry.speaker, category, tool, tokens },
          reason: reasons[at] ?? 'other',
          ...subjectOfBlock(block, subjects),
        },
      ];
    });
}

/** Returns what a block is about: what its call is, or the start of its text. */
function subjectOfBlock(block: ContentBlock, ofCalls: ReadonlyMap<string, Subject>): Subject {
  const { callId } = callOf(block);
  if (callId !== null) return ofCalls.get(callId) ?? NO_SUBJECT;
  const path = block.type === 'media' ? (block.filename ?? null) : null;
  return { path, excerpt: shortExcerpt(textOf(block)) };
}
