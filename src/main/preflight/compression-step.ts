// The second step of a preflight: applies a compression if it makes the history smaller.

import { isToolResponseBlock } from '../../shared/content.js';
import type { IContent } from '../../shared/content.js';
import type { DensityBase } from '../../shared/density.js';
import { pushTo } from '../../shared/lists-by-key.js';
import type { EntryChange } from '../history-change.js';
import { abortable } from '../waiting/abortable.js';
import { failureOf, replaceHistory, stripLateReasoning } from './apply-edit.js';
import type { StepOutcome } from './apply-edit.js';
import { restoreLines, RESTORED_SHARE } from './restore-lines.js';
import type { MadeCompression } from './make-compression.js';
import { holdsReasoning, stripRewritten } from './reasoning-policy.js';
import type { CompressedEvent, HoldReason, StepReport } from './session-events.js';
import type { SessionParts } from './session-parts.js';
import { withTurnStart } from './turn-start.js';

/**
 * Compresses the history and applies the result if it is smaller. Entries added meanwhile are queued, then appended.
 *
 * @param make compresses the present history
 * @throws what `make` threw, or the signal's reason. The history is unchanged then.
 */
export async function runCompressionStep(
  parts: SessionParts,
  make: () => Promise<MadeCompression>,
  signal: AbortSignal | undefined,
): Promise<StepOutcome<CompressedEvent>> {
  const { history } = parts;
  const { base } = history;
  const tokensBefore = history.getTotalTokens();
  history.startCompression();
  let landed: Landed;
  try {
    landed = await land(parts, await make(), base, tokensBefore, signal);
  } finally {
    history.endCompression();
  }
  const { made, outcome, newLength } = landed;
  const lateFailure =
    outcome === 'applied' && made.keepsReasoning !== true
      ? await failureOf(stripLateReasoning(parts, newLength, signal))
      : undefined;
  const failure = lateFailure ?? (await failureOf(history.waitForTokenUpdates()));
  const { by, llmCallMade, fallbackFrom, isAhead } = made;
  const event = {
    strategy: by.name,
    outcome,
    ...(fallbackFrom !== undefined && { fallbackFrom }),
    ...(isAhead === true && { isAhead }),
    llmCallMade,
    tokensBefore,
    tokensAfter: history.getTotalTokens(),
    entriesBefore: base.length,
    entriesAfter: history.length,
  };
  return { event, failure };
}

/** The report of a compression that was due but did not run. */
export function heldStep(
  { history, config }: SessionParts,
  reason: HoldReason,
): StepReport & { readonly event: CompressedEvent } {
  const { length } = history;
  const tokens = history.getTotalTokens();
  const event = {
    strategy: config.strategy.name,
    outcome: 'held',
    reason,
    llmCallMade: false,
    tokensBefore: tokens,
    tokensAfter: tokens,
    entriesBefore: length,
    entriesAfter: length,
  } as const;
  const times = { startTimeMs: Date.now(), durationMs: 0 };
  return { step: 'compressed', event, former: [], isAborted: false, ...times };
}

interface Landed {
  readonly made: MadeCompression;
  readonly outcome: CompressedEvent['outcome'];
  /** Length of the compressed history, without entries queued meanwhile. */
  readonly newLength: number;
}

async function land(
  parts: SessionParts,
  made: MadeCompression,
  base: DensityBase,
  tokensBefore: number,
  signal: AbortSignal | undefined,
): Promise<Landed> {
  const { history, removalLog, sent } = parts;
  const compacted =
    made.keepsReasoning === true ? made.newHistory : withValidReasoning(parts, made.newHistory);
  const newLength = compacted.length;
  const isBound = made.keepsReasoning === true && holdsReasoning(compacted, 0);
  const left = await abortable(history.estimateTokensForContents(compacted), signal);
  const below = parts.gauge.thresholdTokens() - left;
  const room = isBound ? null : RESTORED_SHARE * Math.min(tokensBefore - left, below);
  const { newHistory, tokens: givenBack } = await abortable(
    restoreLines(parts, history.getRawHistory(), compacted, room),
    signal,
  );
  const tokensAfter = left + givenBack;
  if (tokensAfter >= tokensBefore) return { made, outcome: 'rejected', newLength };
  if (removalLog !== undefined) {
    const changes = listRewritten(history.getRawHistory(), newHistory);
    await abortable(removalLog.record('compressed', changes, signal), signal);
  }
  if (replaceHistory(parts, newHistory, base, made.keepsReasoning) === null)
    return { made, outcome: 'stale', newLength };
  // Entries that the provider has compacted are no saving: without the session, they would not be sent and cached in full either.
  if (made.isProvidersOwn === true) sent.startOver();
  else sent.noteReclaimed(tokensBefore - tokensAfter, history.revision);
  return { made, outcome: 'applied', newLength };
}

function withValidReasoning(
  { history, reasoningTerms: { isStripping, keepsTurnStart } }: SessionParts,
  newHistory: readonly IContent[],
): readonly IContent[] {
  if (isStripping) return stripRewritten(newHistory, history.getRawHistory());
  return keepsTurnStart ? withTurnStart(newHistory, history.getRawHistory()) : newHistory;
}

/**
 * The entries that the new history drops or replaces. An entry with tool responses comes with the new entry that answers the same
 * calls, so that the removal log can tell originals from stand-ins.
 */
function listRewritten(
  history: readonly IContent[],
  newHistory: readonly IContent[],
): readonly EntryChange[] {
  const former = new Set(history);
  const kept = new Set(newHistory);
  /** New entries by the calls they answer, in reverse order. */
  const standIns = new Map<string, IContent[]>();
  for (const entry of [...newHistory].reverse()) {
    const calls = former.has(entry) ? '' : idsAnsweredBy(entry);
    if (calls !== '') pushTo(standIns, calls, entry);
  }
  return history.flatMap((before, index) =>
    kept.has(before)
      ? []
      : [{ index, before, after: standIns.get(idsAnsweredBy(before))?.pop() ?? null }],
  );
}

/** Returns a key of the call ids that an entry answers; empty if it answers none. */
function idsAnsweredBy({ blocks }: IContent): string {
  const callIds = blocks.filter(isToolResponseBlock).map(({ callId }) => callId);
  return callIds.length === 0 ? '' : JSON.stringify(callIds);
}
