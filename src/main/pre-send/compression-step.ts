// The second step of the pre-send window: one compression by a strategy, taken only when it helps.

import { isToolResponseBlock } from '../../shared/content.js';
import type { IContent } from '../../shared/content.js';
import { asError } from '../../shared/errors.js';
import { abortable } from '../waiting/abortable.js';
import type {
  CompressionContext,
  CompressionResult,
  CompressionStrategy,
} from '../strategies/strategy.js';
import type { EntryChange } from '../entry-change.js';
import { stripLateReasoning } from './apply-edit.js';
import { firstDifference, stripRewritten } from './reasoning-policy.js';
import type { CompressedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';

/**
 * Compresses the history and puts the result in place when it is smaller. What is added meanwhile
 * waits, and stands behind the result.
 *
 * @param buildContext makes what a strategy is given, from the history as it stands when asked
 * @param tell hears how it ended
 * @throws what the strategy threw, unless truncation may take its place; or the signal's reason. The
 * history is as before then.
 */
export async function runCompressionStep(
  parts: SessionParts,
  strategy: CompressionStrategy,
  buildContext: (strategy: CompressionStrategy) => CompressionContext,
  tell: (event: CompressedEvent) => void,
  signal: AbortSignal | undefined,
): Promise<CompressedEvent> {
  const { history } = parts;
  const { base } = history;
  const tokensBefore = history.getTotalTokens();
  history.startCompression();
  let compression: Compression;
  let outcome: CompressedEvent['outcome'];
  let newLength: number;
  try {
    compression = await compress(parts, strategy, buildContext, signal);
    const { knownTokens = NO_TOKENS } = compression.result;
    const newHistory = withoutStaleReasoning(parts, compression.result.newHistory);
    newLength = newHistory.length;
    for (const [entry, tokens] of knownTokens) history.weigh(entry, tokens);
    const tokensAfter = await abortable(history.estimateTokensForContents(newHistory), signal);
    if (tokensAfter >= tokensBefore) {
      outcome = 'rejected';
    } else {
      if (parts.recordChanges !== undefined) {
        const changes = listChanges(history.getRawHistory(), newHistory);
        await abortable(parts.recordChanges('compressed', changes, signal), signal);
      }
      const intactEntries = firstDifference(newHistory, history.getRawHistory());
      outcome = history.replaceAll(newHistory, base) ? 'applied' : 'stale';
      if (outcome === 'applied') {
        const revisions = { fromRevision: base.revision, toRevision: history.revision };
        const reclaimedTokens = tokensBefore - tokensAfter;
        parts.noteRewrite?.({ ...revisions, intactEntries, reclaimedTokens });
      }
    }
  } finally {
    history.endCompression();
  }
  const { result, by, fallbackFrom } = compression;
  let event: CompressedEvent;
  try {
    if (outcome === 'applied') await stripLateReasoning(parts, newLength, signal);
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

const NO_TOKENS: ReadonlyMap<IContent, number> = new Map<IContent, number>();

function withoutStaleReasoning(
  { history, reasoning = 'keep' }: SessionParts,
  newHistory: readonly IContent[],
): readonly IContent[] {
  return reasoning === 'keep' ? newHistory : stripRewritten(newHistory, history.getRawHistory());
}

interface Compression {
  readonly by: CompressionStrategy;
  readonly result: CompressionResult;
  readonly fallbackFrom?: NonNullable<CompressedEvent['fallbackFrom']>;
}

async function compress(
  parts: SessionParts,
  strategy: CompressionStrategy,
  buildContext: (strategy: CompressionStrategy) => CompressionContext,
  signal: AbortSignal | undefined,
): Promise<Compression> {
  try {
    const result = await abortable(strategy.compress(buildContext(strategy)), signal);
    return { by: strategy, result };
  } catch (thrown) {
    signal?.throwIfAborted();
    if (!strategy.requiresLLM || !parts.runtimeContext.ephemerals.fallbackToTruncation())
      throw thrown;
    const error = asError(thrown);
    parts.logger.warn(`${strategy.name} failed, truncating instead`, { error });
    const truncation = parts.resolveStrategy('top-down-truncation');
    const result = await abortable(truncation.compress(buildContext(truncation)), signal);
    return { by: truncation, result, fallbackFrom: { strategy: strategy.name, error } };
  }
}

/**
 * The entries that the new history does not hold as they are, those with tool responses together with
 * what answers the same calls now: a removal log has to tell such stand-ins from originals.
 */
function listChanges(
  history: readonly IContent[],
  newHistory: readonly IContent[],
): readonly EntryChange[] {
  const former = new Set(history);
  const kept = new Set(newHistory);
  /** By the calls that they answer, new entries, the first one last. */
  const standIns = new Map<string, IContent[]>();
  for (const entry of [...newHistory].reverse()) {
    const calls = former.has(entry) ? '' : answeredCalls(entry);
    if (calls === '') continue;
    const known = standIns.get(calls);
    if (known === undefined) standIns.set(calls, [entry]);
    else known.push(entry);
  }
  return history.flatMap((before, index) =>
    kept.has(before)
      ? []
      : [{ index, before, after: standIns.get(answeredCalls(before))?.pop() ?? null }],
  );
}

/** The ids of the calls that an entry answers, as a key; empty when it answers none. */
function answeredCalls({ blocks }: IContent): string {
  const callIds = blocks.filter(isToolResponseBlock).map(({ callId }) => callId);
  return callIds.length === 0 ? '' : JSON.stringify(callIds);
}
