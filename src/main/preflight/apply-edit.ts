// Applies one edit of a preflight: records the content it removes, then applies it atomically. Notes the edit in `sent` only. Also
// puts the events of several edits together.

import type { IContent } from '../../shared/content.js';
import { isEmptyDensityResult, NO_EDITS } from '../../shared/density.js';
import type { DensityBase, DensityResult, DensityResultMetadata } from '../../shared/density.js';
import { DENSITY_RULES } from '../../shared/density/rules/density-rules.js';
import type { EntryChange } from '../history-change.js';
import { isWriteFailure } from '../removal-log/removal-log-errors.js';
import type { Journal } from '../state/journal.js';
import { abortable } from '../waiting/abortable.js';
import {
  firstDifference,
  holdsReasoning,
  stripBehind,
  stripReasoning,
} from './reasoning-policy.js';
import type { CompressedEvent, Failure, PrunedEvent, StepEnd } from './session-events.js';
import type { SessionParts } from './session-parts.js';
import { sumTokens } from './token-tally.js';

/** The result of a step. A failure next to an event happened after the edit had landed; the edit stays. */
export interface StepOutcome<Event> {
  readonly event: Event;
  readonly failure?: Failure | undefined;
}

/** Waits for a promise. Returns its rejection, or `undefined` if it was fulfilled. */
export function failureOf(promise: Promise<unknown>): Promise<Failure | undefined> {
  return promise.then(
    () => undefined,
    (thrown: unknown) => ({ thrown }),
  );
}

/** Returns the event of a step. @throws what the step threw, also after its edit had landed */
export function eventOf<Event>({ event, failure }: StepEnd<Event>): Event {
  if (failure !== undefined || event === undefined) throw failure?.thrown;
  return event;
}

/** Returns the later of the applied events, because callers must follow it; if neither was applied, the later event. */
export function latestApplied(
  later: CompressedEvent | null,
  earlier: CompressedEvent | null,
): CompressedEvent | null {
  if (later?.outcome === 'applied') return later;
  return earlier?.outcome === 'applied' ? earlier : (later ?? earlier);
}

/** Merges the events of edits of one preflight, in the order in which they landed. */
export function mergedEvents(...events: readonly (PrunedEvent | null)[]): PrunedEvent | null {
  return events.reduce((all, event) => {
    if (all === null || event === null) return all ?? event;
    return {
      metadata: sumOfMetadata(all.metadata, event.metadata),
      reason: (event.edits.length > 0 ? event : all).reason,
      edits: [...all.edits, ...event.edits],
      changes: [...all.changes, ...event.changes],
      tokensBefore: all.tokensBefore,
      tokensAfter: event.tokensAfter,
    };
  }, null);
}

/** The counts of two edits together. */
export function sumOfMetadata(
  a: DensityResultMetadata,
  b: DensityResultMetadata,
): DensityResultMetadata {
  const sum: { -readonly [Counter in keyof DensityResultMetadata]: number } = { ...a };
  for (const { counter } of DENSITY_RULES) {
    const count = b[counter];
    if (count !== undefined) sum[counter] = (sum[counter] ?? 0) + count;
  }
  return sum;
}

/** An applied edit. Token totals are those of the whole history. */
type AppliedEdit = Pick<PrunedEvent, 'changes' | 'tokensBefore' | 'tokensAfter'>;

/**
 * Records and applies an edit computed from `base`, together with its effect on later reasoning. An abort before it lands
 * leaves the history unchanged; after that, waiting for its token counts is not aborted.
 *
 * @param replayed the journal of the edits that landed before, if this one combines them
 * @returns the edit, and the failure if counting its tokens failed; `null` if it must be recomputed because, while it was
 *   recorded, the history was rewritten or reasoning was added that it would have to strip
 * @throws what kept it from landing
 */
export async function applyEdit(
  parts: SessionParts,
  found: DensityResult,
  foundBase: DensityBase,
  signal: AbortSignal | undefined,
  replayed?: Journal,
): Promise<StepOutcome<AppliedEdit> | null> {
  const { history, removalLog, sent } = parts;
  const tokensBefore = history.getTotalTokens();
  // A replayed edit already includes its effect on reasoning.
  const strips = replayed === undefined && parts.reasoningTerms.isStripping;
  const entries = history.getRawHistory();
  const result = strips ? stripReasoning(found, entries) : found;
  // Entries added since then may hold reasoning that had to be stripped as well.
  const base = strips ? { ...foundBase, length: entries.length } : foundBase;
  const changes = listChanges(entries, result);
  if (removalLog !== undefined) {
    await abortable(removalLog.record('pruned', changes, signal), signal);
  }
  if (history.revision !== base.revision) return null;
  if (strips && holdsReasoning(history.getRawHistory(), base.length)) return null;
  const before = changes.map((change) => change.before);
  const changedTokens = sumTokens(before, history);
  const applied = history.applyDensityResult(result, base, replayed);
  const { revision } = history;
  // The history has refused the edit: it rejects.
  if (revision === base.revision) await applied;
  sent.noteEdit(changes[0]?.index ?? base.length, !parts.reasoningTerms.isStripping);
  const failure = await failureOf(applied);
  const after = changes.flatMap((change) => change.after ?? []);
  sent.noteReclaimed(changedTokens - sumTokens(after, history), revision);
  return { event: { changes, tokensBefore, tokensAfter: history.getTotalTokens() }, failure };
}

/**
 * Replaces the history with another list.
 *
 * @param base the state that the list was made from
 * @param keepsReasoning whether reasoning behind the changed entries stays valid @default false
 * @returns the length of the unchanged prefix; `null`, without effect, if the history has changed since
 */
export function replaceHistory(
  { history, sent, reasoningTerms }: SessionParts,
  newHistory: readonly IContent[],
  base: DensityBase,
  keepsReasoning: boolean = false,
): number | null {
  const intactEntries = firstDifference(newHistory, history.getRawHistory());
  if (!history.replaceAll(newHistory, base)) return null;
  sent.noteEdit(intactEntries, !keepsReasoning && !reasoningTerms.isStripping);
  return intactEntries;
}

/**
 * Strips reasoning from entries that were added while a rewrite was made. If the removal cannot be recorded, the reasoning stays:
 * the rewrite has already landed.
 */
export async function stripLateReasoning(
  parts: SessionParts,
  fromEntry: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { history } = parts;
  const { revision } = history;
  const place = { entry: fromEntry, block: 0 };
  while (parts.reasoningTerms.isStripping && history.revision === revision) {
    const result = stripBehind(NO_EDITS, history.getRawHistory(), place);
    if (isEmptyDensityResult(result)) return;
    const landed = await applyEdit(parts, result, history.base, signal).catch(
      (thrown: unknown) => ({
        failure: { thrown },
      }),
    );
    if (landed?.failure === undefined) continue;
    if (isWriteFailure(landed.failure.thrown)) return;
    throw landed.failure.thrown;
  }
}

/** Strips stale reasoning, which edits under another policy have left. The event is `null` if there is none. */
export async function stripStaleReasoning(
  parts: SessionParts,
  signal: AbortSignal | undefined,
): Promise<StepOutcome<PrunedEvent | null>> {
  const { history, sent } = parts;
  for (;;) {
    const place = { entry: sent.staleReasoningFrom, block: 0 };
    const result = stripBehind(NO_EDITS, history.getRawHistory(), place);
    const landed = isEmptyDensityResult(result)
      ? { event: null }
      : await applyEdit(parts, result, history.base, signal);
    if (landed === null) continue;
    sent.noteStrippedReasoning();
    if (landed.event === null) return { event: null };
    const { metadata } = result;
    return { ...landed, event: { metadata, reason: 'reasoning', edits: [], ...landed.event } };
  }
}

function listChanges(
  history: readonly IContent[],
  { removals, replacements }: DensityResult,
): readonly EntryChange[] {
  const edits = [...removals.map((index) => [index, null] as const), ...replacements];
  return edits
    .sort(([one], [other]) => one - other)
    .flatMap(([index, after]) => {
      const before = history[index];
      return before === undefined ? [] : [{ index, before, after }];
    });
}
