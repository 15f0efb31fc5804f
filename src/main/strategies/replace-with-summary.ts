// What the strategies with a model share: choosing the entries that a summary replaces, and replacing them by a validated one.

import { humanText } from '../../shared/content.js';
import type { IContent } from '../../shared/content.js';
import { CompressionExecutionError, SummaryRejectedError } from '../../shared/errors.js';
import { outlineHistory } from '../../shared/summarize/history-outline.js';
import type { HistoryOutline } from '../../shared/summarize/history-outline.js';
import { findTailStart, moveBeforePairs } from '../../shared/summarize/plan-compression.js';
import { groupToolEntries, newestUserEntry } from '../../shared/summarize/truncation.js';
import { isWorkNote } from '../../shared/work/work-note.js';
import { getCompressionPrompt } from '../prompts/prompt-resolver.js';
import { summarizeHistory } from '../summarizer/summarize-history.js';
import {
  previousSummary,
  summaryEntries,
  isAcknowledgement,
  isSummaryNote,
} from '../summarizer/summary-note.js';
import { isProviderEntry } from './provider-compaction.js';
import { compressionResult, countEach } from './strategy.js';
import type { CompressionContext, CompressionResult, CompressionStrategyName } from './strategy.js';

/** Fewer entries are not worth a model call. */
const MIN_SUMMARIZED_ENTRIES = 4;

/** Maximum share of the context window for a summary. */
const MAX_WINDOW_SHARE = 0.2;

/**
 * Asks the context's summarizer for a summary of the entries between the top and the tail, and replaces these with it. With fewer
 * than four entries to summarize, returns the history unchanged, without a call.
 *
 * @param topShare share of the entries, from the start, that stay
 * @throws CompressionExecutionError if there is no summarizer, or it failed; SummaryRejectedError if the summary is unfit or no
 *   smaller than what it would replace; the signal's reason.
 */
export async function replaceWithSummary(
  strategyName: CompressionStrategyName,
  context: CompressionContext,
  topShare: number,
): Promise<CompressionResult> {
  const { history, runtimeContext, summarizer, logger, signal } = context;
  const { outline } = outlineHistory(history);
  const tailStart = findTailStart(outline, runtimeContext.ephemerals.preserveThreshold());
  const topLength = Math.ceil(history.length * topShare);
  const start = moveBeforePairs(Math.min(topLength, tailStart), outline);
  const span = summarySpan(history, outline, start, tailStart);
  const { top, summarized, notes, kept, tail } = span;
  if (summarized.length < MIN_SUMMARIZED_ENTRIES) {
    logger.debug('too little to summarize', { strategyName, entries: summarized.length });
    return compressionResult(strategyName, history, [...history]);
  }
  if (summarizer === undefined) {
    throw new CompressionExecutionError(
      strategyName,
      'it needs a model to write summaries, and none is configured. Pass a summarizer, for example ' +
        "fromLanguageModel(model, { contextLimit }), or use 'high-density' or " +
        "'top-down-truncation', which need none.",
      { code: 'SUMMARIZER_MISSING' },
    );
  }
  const replacedTokens = await context.estimateTokens([...summarized, ...notes]);
  const windowTokens = runtimeContext.ephemerals.contextLimit() * MAX_WINDOW_SHARE;
  logger.debug('asking for a summary', {
    strategyName,
    entries: summarized.length,
    replacedTokens,
  });
  const summary = await summarizeHistory({
    strategyName,
    summarizer,
    version: context.version,
    system: context.compressionPrompt ?? getCompressionPrompt(),
    entries: span.shown,
    previousSummary: previousSummary(notes),
    todos: context.activeTodos ?? [],
    targetTokens: Math.min(windowTokens, replacedTokens / 2),
    countTexts: (texts) =>
      countEach(
        context,
        texts.map((text) => humanText(text)),
      ),
    logger,
    signal,
  });

  const replacement = summaryEntries(summary, context.transcriptPath);
  const tokens = await context.estimateTokens(replacement);
  signal?.throwIfAborted();
  if (tokens >= replacedTokens) {
    const message = `the summary takes ${tokens} tokens in place of ${replacedTokens}`;
    throw new SummaryRejectedError(strategyName, 'inflated', message);
  }
  const newHistory = [...top, ...replacement, ...kept, ...tail];
  return compressionResult(strategyName, history, newHistory, {
    llmCallMade: true,
    topPreserved: top.length,
    // Kept entries stand behind the summary; earlier notes went into the new one.
    bottomPreserved: kept.length + tail.length,
    middleCompressed: history.length - top.length - kept.length - tail.length,
  });
}

/** A history split into parts, each in the original order. */
export interface SummarySpan {
  /** Stays in front of the summary. */
  readonly top: readonly IContent[];
  /** Replaced by the summary, without earlier summaries. */
  readonly summarized: readonly IContent[];
  /** Earlier summaries, replaced as well. */
  readonly notes: readonly IContent[];
  /** Entries of the summarized range that must stay; they go behind the summary. */
  readonly kept: readonly IContent[];
  readonly tail: readonly IContent[];
  /** What the model is shown: `summarized`, and the user's last request unless it is in the tail. */
  readonly shown: readonly IContent[];
}

/**
 * Splits a history for a summary of the entries from `start` to `tailStart`; neither boundary may split a call from its
 * response. Open calls and the user's last request stay. Earlier summaries in the top are removed as well, so that they do not
 * accumulate, together with leading entries that no human entry precedes.
 */
export function summarySpan(
  history: readonly IContent[],
  outline: HistoryOutline,
  start: number,
  tailStart: number,
): SummarySpan {
  const groups = groupToolEntries(outline);
  const asked = newestUserEntry(outline);
  const top: IContent[] = [];
  const summarized: IContent[] = [];
  const notes: IContent[] = [];
  const kept: IContent[] = [];
  const shown: IContent[] = [];
  /** Leading groups whose summary is removed: with them, the top would start with an ai entry. */
  const headless = new Set<number>();
  let hasNote = false;
  history.slice(0, tailStart).forEach((entry, index) => {
    // Compactions maintain the work note themselves, so the summary need not repeat it.
    if (isWorkNote(entry)) {
      hasNote = true;
      return;
    }
    // Only the provider can read its own compaction, which stays in front.
    if (isProviderEntry(entry)) {
      top.push(entry);
      return;
    }
    if (isSummaryNote(entry)) {
      hasNote = true;
      notes.push(entry);
      return;
    }
    if (isAcknowledgement(entry)) return;
    const group = groups.find(index);
    const isPinned = groups.isPinned(group);
    if (top.length === 0 && hasNote && entry.speaker !== 'human') headless.add(group);
    const isTop = index < start && !headless.has(group);
    if (index === asked || (!isTop && !isPinned)) shown.push(entry);
    if (isTop) top.push(entry);
    else if (index === asked || isPinned) kept.push(entry);
    else summarized.push(entry);
  });
  return { top, summarized, notes, kept, tail: history.slice(tailStart), shown };
}
