// The second step of the pre-send window: one compression by a strategy, taken only when it helps.

import type { IContent } from '../../shared/content.js';
import { abortable } from '../abortable.js';
import type {
  CompressionContext,
  CompressionResult,
  CompressionStrategy,
} from '../strategies/strategy.js';
import type { CompressedEvent, EntryChange } from './session-events.js';
import type { SessionParts } from './session-parts.js';

/**
 * Compresses the history and puts the result in place when it is smaller. What is added meanwhile
 * waits, and stands behind the result.
 *
 * @param buildContext makes what the strategy is given, from the history as it stands when asked
 * @param tell hears how it ended
 * @throws what the strategy threw, unless truncation may take its place; or the signal's reason. The
 * history is as before then.
 */
export async function runCompressionStep(
  parts: SessionParts,
  strategy: CompressionStrategy,
  buildContext: () => CompressionContext,
  tell: (event: CompressedEvent) => void,
  signal: AbortSignal | undefined,
): Promise<CompressedEvent> {
  const { history } = parts;
  const { base } = history;
  const tokensBefore = history.getTotalTokens();
  history.startCompression();
  let compression: Compression;
  let outcome: CompressedEvent['outcome'];
  try {
    compression = await compress(parts, strategy, buildContext(), signal);
    const { newHistory } = compression.result;
    const tokensAfter = sum(await abortable(history.countEach(newHistory), signal));
    if (tokensAfter >= tokensBefore) {
      outcome = 'rejected';
    } else {
      if (parts.recordChanges !== undefined) {
        const changes = listDropped(history.getRawHistory(), newHistory);
        await abortable(parts.recordChanges('compressed', changes, signal), signal);
      }
      outcome = history.replaceAll(newHistory, base) ? 'applied' : 'stale';
    }
  } finally {
    history.endCompression();
  }
  const { result, by, fallbackFrom } = compression;
  let event: CompressedEvent;
  try {
    await history.waitForTokenUpdates();
  } finally {
    // What stands is told, also when counting its tokens failed.
    event = {
      strategy: by.name,
      outcome,
      ...(fallbackFrom !== undefined && { fallbackFrom }),
      llmCallMade: result.metadata.llmCallMade,
      tokensBefore,
      tokensAfter: history.getTotalTokens(),
      entriesBefore: base.length,
      entriesAfter: history.length,
    };
    tell(event);
  }
  return event;
}

interface Compression {
  readonly by: CompressionStrategy;
  readonly result: CompressionResult;
  readonly fallbackFrom?: NonNullable<CompressedEvent['fallbackFrom']>;
}

async function compress(
  parts: SessionParts,
  strategy: CompressionStrategy,
  context: CompressionContext,
  signal: AbortSignal | undefined,
): Promise<Compression> {
  try {
    return { by: strategy, result: await abortable(strategy.compress(context), signal) };
  } catch (thrown) {
    signal?.throwIfAborted();
    if (!strategy.requiresLLM || !parts.runtimeContext.ephemerals.fallbackToTruncation())
      throw thrown;
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    parts.logger.warn(`${strategy.name} failed, truncating instead`, { error });
    const truncation = parts.resolveStrategy('top-down-truncation');
    const result = await abortable(truncation.compress(context), signal);
    return { by: truncation, result, fallbackFrom: { strategy: strategy.name, error } };
  }
}

/** The entries that the new history does not hold as they are. */
function listDropped(
  history: readonly IContent[],
  newHistory: readonly IContent[],
): readonly EntryChange[] {
  const kept = new Set(newHistory);
  return history.flatMap((before, index) =>
    kept.has(before) ? [] : [{ index, before, after: null }],
  );
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
