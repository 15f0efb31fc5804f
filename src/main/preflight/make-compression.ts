// Has a strategy make a compression of a session's history, and adds what has to survive any. Changes no history.

import type { IContent } from '../../shared/content.js';
import { asError } from '../../shared/errors.js';
import { isWorkNote } from '../../shared/work/work-note.js';
import { withContextLimit } from '../settings/settings.js';
import type {
  CompressionContext,
  CompressionStrategy,
  OwnStrategyName,
} from '../strategies/strategy.js';
import { abortable } from '../waiting/abortable.js';
import { withWork, wholeBoundary } from './carry-work.js';
import type { CompressedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';

/** A compression that was made, and is in no history yet. */
export interface MadeCompression {
  /** The strategy whose result it is. */
  readonly by: CompressionStrategy;
  readonly newHistory: readonly IContent[];
  readonly llmCallMade: boolean;
  /** See the event. */
  readonly fallbackFrom?: NonNullable<CompressedEvent['fallbackFrom']>;
  /** Made in the background, of the history as it stood then. @default false */
  readonly isAhead?: boolean;
  /** See the result of a strategy. */
  readonly keepsReasoning?: boolean;
  /** What leaves is of no use to the provider any more, which has compacted by itself. @default false */
  readonly isProvidersOwn?: boolean;
}

/**
 * Makes a compression of the history as it stands. Its new entries are weighed.
 *
 * @throws what the strategy threw; or the signal's reason.
 */
export async function makeCompression(
  parts: SessionParts,
  strategy: CompressionStrategy,
  promptId: string,
  signal: AbortSignal | undefined,
): Promise<MadeCompression> {
  const { history } = parts;
  const former = [...history.getRawHistory()];
  const tokensBefore = history.getTotalTokens();
  const context = compressionContext(parts, strategy, promptId, signal);
  const {
    newHistory,
    knownTokens,
    metadata,
    keepsReasoning = false,
  } = await abortable(strategy.compress(context), signal);
  for (const [entry, tokens] of knownTokens ?? []) history.weigh(entry, tokens);
  const left = await abortable(history.estimateTokensForContents(newHistory), signal);
  const carried = withWork(parts, former, newHistory, tokensBefore - left, keepsReasoning);
  // Counted now, so that whoever puts it in place need not wait for that.
  await abortable(history.countEach(carried.filter(isWorkNote)), signal);
  return { by: strategy, newHistory: carried, llmCallMade: metadata.llmCallMade, keepsReasoning };
}

/**
 * As `makeCompression`; where the provider fails, the strategy that the settings name takes its place, and where another one
 * with a model does, truncation, when the settings say so.
 *
 * @throws what the strategy threw, unless another may take its place; or the signal's reason.
 */
export async function makeCompressionAtAnyRate(
  parts: SessionParts,
  strategy: CompressionStrategy,
  promptId: string,
  signal: AbortSignal | undefined,
): Promise<MadeCompression> {
  try {
    return await makeCompression(parts, strategy, promptId, signal);
  } catch (thrown) {
    signal?.throwIfAborted();
    const name = fallbackOf(parts, strategy);
    if (name === undefined) throw thrown;
    const error = asError(thrown);
    parts.logger.warn(`${strategy.name} failed, compressing by ${name} instead`, { error });
    const fallback = parts.resolveStrategy(name);
    const made = await makeCompressionAtAnyRate(parts, fallback, promptId, signal);
    return { ...made, fallbackFrom: { strategy: strategy.name, error } };
  }
}

function fallbackOf(
  { runtimeContext: { ephemerals } }: SessionParts,
  { name, requiresLLM }: CompressionStrategy,
): OwnStrategyName | undefined {
  if (name === 'provider') return ephemerals.compressionFallback?.() ?? 'high-density';
  return requiresLLM && ephemerals.fallbackToTruncation() ? 'top-down-truncation' : undefined;
}

/** The part of a compression's context that comes from the history and the call. */
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
  | 'version'
  | 'compactByProvider'
  | 'signal'
>;

/** The part that the host knows. */
export type CompressionInputs = Omit<CompressionContext, keyof HistoryContext>;

/** What a strategy is given to compress the history as it stands. */
export function compressionContext(
  parts: SessionParts,
  { requiresLLM }: CompressionStrategy,
  promptId: string,
  signal: AbortSignal | undefined,
): CompressionContext {
  const { history, offload, logger, gauge, compressionInputs, compactByProvider } = parts;
  const { base, journal } = history;
  return {
    // The host is not asked for what a strategy without a model has no use for.
    ...(requiresLLM && compressionInputs?.()),
    ...(requiresLLM && compactByProvider !== undefined && { compactByProvider }),
    history: history.getCurated(),
    // To a strategy the window is as large as it is in the tokens that are counted.
    runtimeContext: withContextLimit(parts.runtimeContext, gauge.budget.windowTokens),
    estimateTokens: (contents) => history.estimateTokensForContents(contents),
    countEach: (contents) => history.countEach(contents),
    planCompression: (request) =>
      offload.planCompression?.(base, request, signal) ?? Promise.resolve(undefined),
    currentTokenCount: history.getTotalTokens(),
    logger,
    promptId,
    version: JSON.stringify([parts.sessionId, journal.length, journal.count]),
    ...(signal !== undefined && { signal }),
  };
}

/**
 * Returns how many entries at the start a provider's compaction replaces: all before it, except that no call among them may be
 * open or answered behind it. 0 when only the user has spoken before it: those words came back with a compaction that was
 * asked for, and belong to it.
 *
 * @param compaction index of the entry that holds it
 */
export function replacedEntries(history: readonly IContent[], compaction: number): number {
  const hasAnswers = history.slice(0, compaction).some(({ speaker }) => speaker !== 'human');
  return hasAnswers ? wholeBoundary(history, compaction) : 0;
}

/** Makes of a history what is left of it without its first entries, with the note of what was asked and done in them. */
export async function dropReplaced(
  parts: SessionParts,
  replaced: number,
): Promise<MadeCompression> {
  const { history } = parts;
  const former = [...history.getRawHistory()];
  const kept = former.slice(replaced);
  const left = await history.estimateTokensForContents(kept);
  return {
    by: parts.resolveStrategy('provider'),
    newHistory: withWork(parts, former, kept, history.getTotalTokens() - left, true),
    llmCallMade: false,
    keepsReasoning: true,
    isProvidersOwn: true,
  };
}
