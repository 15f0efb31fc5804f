// The second step of a preflight: one compression by a strategy, taken only when it helps.

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
import { stripLateReasoning, failureOf } from './apply-edit.js';
import { withWork } from './carry-work.js';
import { firstDifference, stripRewritten } from './reasoning-policy.js';
import type { CompressedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';
import { withContextLimit } from '../settings/runtime-context.js';
import type { StepOutcome } from './apply-edit.js';

/**
 * Compresses the history and puts the result in place when it is smaller. What is added meanwhile
 * waits, and stands behind the result.
 *
 * @throws what the strategy threw, unless truncation may take its place; or the signal's reason. The
 * history is as before then.
 */
export async function runCompressionStep(
  parts: SessionParts,
  strategy: CompressionStrategy,
  promptId: string,
  signal: AbortSignal | undefined,
): Promise<StepOutcome<CompressedEvent>> {
  const { history, recorder, sent } = parts;
  const { base } = history;
  const tokensBefore = history.getTotalTokens();
  history.startCompression();
  let compression: Compression;
  let outcome: CompressedEvent['outcome'];
  let newLength: number;
  try {
    compression = await compress(parts, strategy, promptId, signal);
    const { knownTokens = NO_TOKENS } = compression.result;
    for (const [entry, tokens] of knownTokens) history.weigh(entry, tokens);
    const compacted = withoutStaleReasoning(parts, compression.result.newHistory);
    const left = await abortable(history.estimateTokensForContents(compacted), signal);
    const newHistory = withWork(parts, history.getRawHistory(), compacted, tokensBefore - left);
    newLength = newHistory.length;
    const tokensAfter =
      newHistory === compacted
        ? left
        : await abortable(history.estimateTokensForContents(newHistory), signal);
    if (tokensAfter >= tokensBefore) {
      outcome = 'rejected';
    } else {
      if (recorder !== undefined) {
        const changes = listRewritten(history.getRawHistory(), newHistory);
        await abortable(recorder.record('compressed', changes, signal), signal);
      }
      const intactEntries = firstDifference(newHistory, history.getRawHistory());
      outcome = history.replaceAll(newHistory, base) ? 'applied' : 'stale';
      if (outcome === 'applied') {
        const revisions = { fromRevision: base.revision, toRevision: history.revision };
        const reclaimedTokens = tokensBefore - tokensAfter;
        sent.noteRewrite({ ...revisions, intactEntries, reclaimedTokens });
      }
    }
  } finally {
    history.endCompression();
  }
  const isApplied = outcome === 'applied';
  const failure =
    (isApplied && (await failureOf(stripLateReasoning(parts, newLength, signal)))) ||
    (await failureOf(history.waitForTokenUpdates()));
  const { result, by, fallbackFrom } = compression;
  const event = {
    strategy: by.name,
    outcome,
    ...(fallbackFrom !== undefined && { fallbackFrom }),
    llmCallMade: result.metadata.llmCallMade,
    tokensBefore,
    tokensAfter: history.getTotalTokens(),
    entriesBefore: base.length,
    entriesAfter: history.length,
  };
  return { event, failure };
}

const NO_TOKENS: ReadonlyMap<IContent, number> = new Map<IContent, number>();

function withoutStaleReasoning(
  { history, edits }: SessionParts,
  newHistory: readonly IContent[],
): readonly IContent[] {
  return edits.reasoning === 'keep'
    ? newHistory
    : stripRewritten(newHistory, history.getRawHistory());
}

interface Compression {
  readonly by: CompressionStrategy;
  readonly result: CompressionResult;
  readonly fallbackFrom?: NonNullable<CompressedEvent['fallbackFrom']>;
}

async function compress(
  parts: SessionParts,
  strategy: CompressionStrategy,
  promptId: string,
  signal: AbortSignal | undefined,
): Promise<Compression> {
  try {
    return { by: strategy, result: await compressBy(strategy, parts, promptId, signal) };
  } catch (thrown) {
    signal?.throwIfAborted();
    if (!strategy.requiresLLM || !parts.runtimeContext.ephemerals.fallbackToTruncation())
      throw thrown;
    const error = asError(thrown);
    parts.logger.warn(`${strategy.name} failed, truncating instead`, { error });
    const truncation = parts.resolveStrategy('top-down-truncation');
    const result = await compressBy(truncation, parts, promptId, signal);
    return { by: truncation, result, fallbackFrom: { strategy: strategy.name, error } };
  }
}

async function compressBy(
  strategy: CompressionStrategy,
  parts: SessionParts,
  promptId: string,
  signal: AbortSignal | undefined,
): Promise<CompressionResult> {
  const context = compressionContext(parts, strategy, promptId, signal);
  return abortable(strategy.compress(context), signal);
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
  const { history, offload, logger, gauge, compressionInputs } = parts;
  const { base } = history;
  return {
    // The host is not asked for what a strategy without a model has no use for.
    ...(requiresLLM && compressionInputs?.()),
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
    ...(signal !== undefined && { signal }),
  };
}

/**
 * The entries that the new history does not hold as they are, those with tool responses together with
 * what answers the same calls now: a removal log has to tell such stand-ins from originals.
 */
function listRewritten(
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
