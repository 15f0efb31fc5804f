// What a strategy is given to compress a history: the part that comes from the history, and the rest.

import { withContextLimit } from '../settings/runtime-context.js';
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

/** What a strategy does not learn from the history. */
export interface ContextInputs {
  /** The model's window in tokens as they are counted: to a strategy it is as large as it is in those. */
  readonly windowTokens: number;
  /** The host is not asked for what a strategy without a model has no use for. */
  readonly forModel: (() => CompressionInputs) | undefined;
}

/** What a strategy is given to compress the history as it stands. */
export function compressionContext(
  parts: SessionParts,
  { windowTokens, forModel }: ContextInputs,
  promptId: string,
  { signal }: AbortOptions,
): CompressionContext {
  const { history, offload, logger } = parts;
  const runtimeContext = withContextLimit(parts.runtimeContext, windowTokens);
  const { base } = history;
  return {
    ...forModel?.(),
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
