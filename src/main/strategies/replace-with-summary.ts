// What the strategies with a model share: replacing a part of a history by a validated summary.

import type { IContent } from '../../shared/content.js';
import { humanText } from '../../shared/content.js';
import { CompressionExecutionError, SummaryRejectedError } from '../../shared/errors.js';
import { getCompressionPrompt } from '../prompts/prompt-resolver.js';
import { foldHistory } from '../summarizer/fold-history.js';
import { previousSummary, summaryEntries } from '../summarizer/summary-note.js';
import { countEach } from './strategy.js';
import type { CompressionContext, CompressionResult, CompressionStrategyName } from './strategy.js';
import type { SummarySpan } from './summary-span.js';

/** Fewer entries are not worth a model call. */
const MIN_SUMMARIZED_ENTRIES = 4;

/** Maximum share of the context window for a summary. */
const MAX_WINDOW_SHARE = 0.2;

/**
 * Asks the context's summarizer for a summary of a span, and replaces the span by it. With fewer than four entries to
 * summarize, returns the history unchanged without a call.
 *
 * @throws CompressionExecutionError if there is no summarizer, or it failed; SummaryRejectedError if the summary is unfit or no
 *   smaller than what it would replace; the signal's reason.
 */
export async function replaceWithSummary(
  strategyName: CompressionStrategyName,
  context: CompressionContext,
  span: SummarySpan,
): Promise<CompressionResult> {
  const { history, summarizer, logger, signal } = context;
  const { top, summarized, notes, kept, tail } = span;
  if (summarized.length < MIN_SUMMARIZED_ENTRIES) {
    logger.debug('too little to summarize', { strategyName, entries: summarized.length });
    return unchanged(strategyName, history);
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
  const replacedTokens = await countAll(context, [...summarized, ...notes]);
  const windowTokens = context.runtimeContext.ephemerals.contextLimit() * MAX_WINDOW_SHARE;
  logger.debug('asking for a summary', {
    strategyName,
    entries: summarized.length,
    replacedTokens,
  });
  const summary = await foldHistory({
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
  const tokens = await countAll(context, replacement);
  signal?.throwIfAborted();
  if (tokens >= replacedTokens) {
    const message = `the summary takes ${tokens} tokens in place of ${replacedTokens}`;
    throw new SummaryRejectedError(strategyName, 'inflated', message);
  }
  const newHistory = [...top, ...replacement, ...kept, ...tail];
  return {
    newHistory,
    metadata: {
      originalMessageCount: history.length,
      compressedMessageCount: newHistory.length,
      strategyUsed: strategyName,
      llmCallMade: true,
      topPreserved: top.length,
      // Kept entries stand behind the summary; earlier notes went into the new one.
      bottomPreserved: kept.length + tail.length,
      middleCompressed: history.length - top.length - kept.length - tail.length,
    },
  };
}

/** The result of a compression that changes nothing. */
export function unchanged(
  strategyUsed: CompressionStrategyName,
  history: readonly IContent[],
): CompressionResult {
  return {
    newHistory: [...history],
    metadata: {
      originalMessageCount: history.length,
      compressedMessageCount: history.length,
      strategyUsed,
      llmCallMade: false,
    },
  };
}

async function countAll(
  context: CompressionContext,
  contents: readonly IContent[],
): Promise<number> {
  const counts = await countEach(context, contents);
  return counts.reduce((total, count) => total + count, 0);
}
