// What a strategy is given to compress a history: the part that comes from the history, and the rest.

import type { CompressionContext } from '../strategies/strategy.js';
import type { AbortOptions, SessionParts } from './session-parts.js';

type HistoryContext = Pick<
  CompressionContext,
  | 'history'
  | 'runtimeContext'
  | 'estimateTokens'
  | 'countEach'
  | 'currentTokenCount'
  | 'logger'
  | 'planCompression'
  | 'promptId'
  | 'signal'
>;

/** The part of a compression's context that does not come from the history. */
export type CompressionInputs = Omit<CompressionContext, keyof HistoryContext>;

/** The part that comes from the history as it stands. */
export function historyContext(
  { history, offload, runtimeContext, logger }: SessionParts,
  promptId: string,
  { signal }: AbortOptions,
): HistoryContext {
  const { base } = history;
  return {
    history: history.getCurated(),
    runtimeContext,
    estimateTokens: (contents) => history.estimateTokensForContents(contents),
    countEach: (contents) => history.countEach(contents),
    planCompression: (request) =>
      offload.planCompression?.(base, request, signal) ?? Promise.resolve(undefined),
    currentTokenCount: history.getTotalTokens(),
    logger,
    promptId,
    ...(signal !== undefined && { signal }),
  };
}
