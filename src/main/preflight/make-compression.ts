// Makes compressions of a session's history, with a strategy or by dropping what the provider has compacted itself, and adds the
// work note that every compression carries over. Changes no history.

import { carriesContent } from '../../shared/content.js';
import type { IContent } from '../../shared/content.js';
import { asError } from '../../shared/errors.js';
import { isWorkNote } from '../../shared/work/work-note.js';
import { withContextLimit } from '../settings/session-config.js';
import type { AskedSummary } from '../state/session-state.js';
import type { CompressionContext, CompressionStrategy } from '../strategies/strategy.js';
import { abortable, withSignals } from '../waiting/abortable.js';
import { addWorkNote, wholeBoundary } from './add-work-note.js';
import type { CompressedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';

/** A compression that is not applied yet. */
export interface MadeCompression {
  /** The strategy that made it. */
  readonly by: CompressionStrategy;
  readonly newHistory: readonly IContent[];
  readonly llmCallMade: boolean;
  /** See `CompressedEvent`. */
  readonly fallbackFrom?: NonNullable<CompressedEvent['fallbackFrom']>;
  /** Whether it was made in the background, from an earlier snapshot. @default false */
  readonly isAhead?: boolean;
  /** See `CompressionResult`. */
  readonly keepsReasoning?: boolean;
  /** Whether the provider had already compacted the removed entries itself. @default false */
  readonly isProvidersOwn?: boolean;
}

/** A summary that another process has requested, and the history as it was then. */
export interface AskedElsewhere extends Pick<AskedSummary, 'entries' | 'edits'> {
  readonly contents: readonly IContent[];
}

/**
 * Compresses the present history, and counts the new entries.
 *
 * @param asked an earlier history to compress instead. No model is called: only an answer that it has given since can be used
 * @throws what the strategy threw; or the signal's reason.
 */
export function makeCompression(
  parts: SessionParts,
  strategy: CompressionStrategy,
  promptId: string,
  signal: AbortSignal | undefined,
  asked?: AskedElsewhere,
): Promise<MadeCompression> {
  return withSignals([signal, parts.ending.signal], async (either) => {
    const { history } = parts;
    const former = [...(asked?.contents ?? history.getRawHistory())];
    const tokensBefore =
      asked === undefined
        ? history.getTotalTokens()
        : await abortable(history.estimateTokensForContents(former), either);
    const present = compressionContext(parts, strategy, promptId, either);
    const context =
      asked === undefined ? present : contextThen(present, parts, asked, tokensBefore);
    const {
      newHistory,
      knownTokens,
      metadata,
      keepsReasoning = false,
    } = await abortable(strategy.compress(context), either);
    for (const [entry, tokens] of knownTokens ?? []) history.weigh(entry, tokens);
    const left = await abortable(history.estimateTokensForContents(newHistory), either);
    const carried = addWorkNote(parts, former, newHistory, tokensBefore - left, keepsReasoning);
    // Count the note now, so that applying the compression need not wait.
    await abortable(history.countEach(carried.filter(isWorkNote)), either);
    return { by: strategy, newHistory: carried, llmCallMade: metadata.llmCallMade, keepsReasoning };
  });
}

/**
 * Like `makeCompression`, with the fallback of the strategy if that fails.
 *
 * @param isNeeded as in `fallbackOf`
 * @throws what the strategy threw, if there is no fallback; or the signal's reason.
 */
export async function makeCompressionWithFallback(
  parts: SessionParts,
  strategy: CompressionStrategy,
  isNeeded: boolean,
  promptId: string,
  signal: AbortSignal | undefined,
): Promise<MadeCompression> {
  try {
    return await makeCompression(parts, strategy, promptId, signal);
  } catch (thrown) {
    for (const each of [signal, parts.ending.signal]) each?.throwIfAborted();
    const fallback = fallbackOf(parts, strategy, isNeeded);
    if (fallback === undefined) throw thrown;
    const error = asError(thrown);
    const message = `${strategy.name} failed, compressing by ${fallback.name} instead`;
    parts.logger.warn(message, { error });
    const made = await makeCompressionWithFallback(parts, fallback, isNeeded, promptId, signal);
    return { ...made, fallbackFrom: { strategy: strategy.name, error } };
  }
}

/**
 * Returns what compresses if a strategy that calls a model cannot: truncation, if the settings allow it, else the strategy that they
 * name, if the provider failed or the history does not fit the window. `undefined` for none.
 *
 * @param isNeeded whether the history does not fit
 */
export function fallbackOf(
  { config }: SessionParts,
  { name, requiresLLM }: CompressionStrategy,
  isNeeded: boolean,
): CompressionStrategy | undefined {
  const { ephemerals } = config.runtimeContext;
  const named = ephemerals.compressionFallback?.() ?? 'high-density';
  if (name === 'provider') return config.resolveStrategy(named);
  if (!requiresLLM) return undefined;
  if (ephemerals.fallbackToTruncation()) return config.resolveStrategy('top-down-truncation');
  const isUsed = isNeeded && config.isForAgents && named !== name;
  return isUsed ? config.resolveStrategy(named) : undefined;
}

/** Returns what a strategy is given to compress the present history. */
export function compressionContext(
  parts: SessionParts,
  { requiresLLM }: CompressionStrategy,
  promptId: string,
  signal: AbortSignal | undefined,
): CompressionContext {
  const { history, offload, logger, gauge, compressionInputs, compactByProvider } = parts;
  const { base, journal } = history;
  return {
    // Only strategies with a model need the host's inputs.
    ...(requiresLLM && compressionInputs?.()),
    ...(requiresLLM && compactByProvider !== undefined && { compactByProvider }),
    history: history.getCurated(),
    // Strategies see the window in counted tokens.
    runtimeContext: withContextLimit(parts.config.runtimeContext, gauge.windowTokens),
    estimateTokens: (contents) => history.estimateTokensForContents(contents),
    countEach: (contents) => history.countEach(contents),
    planCompression: (request) =>
      offload.planCompression?.(base, request, signal) ?? Promise.resolve(undefined),
    keepsShortResults: parts.config.isForAgents,
    currentTokenCount: history.getTotalTokens(),
    logger,
    promptId,
    version: versionOf(parts, journal.length, journal.count),
    ...(signal !== undefined && { signal }),
  };
}

function versionOf({ sessionId }: SessionParts, entries: number, edits: number): string {
  return JSON.stringify([sessionId, entries, edits]);
}

/** The context of the strategy when the other process asked. Its summarizer returns the model's answer, or fails if there is none. */
function contextThen(
  { summarizer, ...present }: CompressionContext,
  parts: SessionParts,
  { contents, entries, edits }: AskedElsewhere,
  currentTokenCount: number,
): CompressionContext {
  const fail = (): Promise<never> => Promise.reject(new Error('The model has not answered yet.'));
  return {
    ...present,
    history: contents.filter(
      ({ speaker, blocks }) => speaker !== 'ai' || blocks.some(carriesContent),
    ),
    currentTokenCount,
    version: versionOf(parts, entries, edits),
    summarizer: {
      contextLimit: summarizer?.contextLimit ?? 0,
      generate: fail,
      answerTo: async (id) => (await summarizer?.answerTo?.(id)) ?? fail(),
    },
  };
}

/**
 * Returns how many entries at the start a provider's compaction replaces: all before it, or fewer if a call among them would be
 * open or answered behind the boundary. 0 if only the user has spoken before it: a compaction on request returns the user's
 * messages in front of it, and they belong to it.
 *
 * @param compaction index of the entry that holds it
 */
export function replacedEntries(history: readonly IContent[], compaction: number): number {
  const hasAnswers = history.slice(0, compaction).some(({ speaker }) => speaker !== 'human');
  return hasAnswers ? wholeBoundary(history, compaction) : 0;
}

/** Makes the history without its first `replaced` entries, with a note of the requests and work in them. */
export async function dropReplaced(
  parts: SessionParts,
  replaced: number,
): Promise<MadeCompression> {
  const { history } = parts;
  const former = [...history.getRawHistory()];
  const kept = former.slice(replaced);
  const left = await history.estimateTokensForContents(kept);
  return {
    by: parts.config.resolveStrategy('provider'),
    newHistory: addWorkNote(parts, former, kept, history.getTotalTokens() - left, true),
    llmCallMade: false,
    keepsReasoning: true,
    isProvidersOwn: true,
  };
}
