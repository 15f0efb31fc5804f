// Applies one edit of a preflight: what it takes away is kept first, then it lands whole. Tells nobody but `sent`.

import type { IContent } from '../../shared/content.js';
import { isEmptyDensityResult, NO_EDITS } from '../../shared/density.js';
import type { DensityBase, DensityResult } from '../../shared/density.js';
import { abortable } from '../waiting/abortable.js';
import type { EntryChange } from '../history-change.js';
import type { HistoryService } from '../history-service.js';
import { isWriteFailure } from '../removal-log/removal-log-errors.js';
import type { JournalRecords } from '../state/journal.js';
import { holdsReasoning, stripBehind, stripReasoning } from './reasoning-policy.js';
import { tokensOf } from './token-tally.js';
import type { SessionParts } from './session-parts.js';

/** What a step came to. A failure beside an event came after the edit had landed, which stands all the same. */
export interface StepOutcome<Event> {
  readonly event: Event;
  readonly failure?: Failure | undefined;
}

/** What was thrown, which may be anything. */
export interface Failure {
  readonly thrown: unknown;
}

/** Returns what a promise rejects with, or `undefined`. */
export function failureOf(promise: Promise<unknown>): Promise<Failure | undefined> {
  return promise.then(
    () => undefined,
    (thrown: unknown) => ({ thrown }),
  );
}

/** An edit that was applied. Token totals are those of the whole history. */
export interface AppliedEdit {
  readonly changes: readonly EntryChange[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/**
 * Records and applies an edit that was computed from `base`, together with what it does to the reasoning
 * behind it. Aborting before it lands leaves the history as it was; once it has landed, the wait for
 * its tokens is no longer called off.
 *
 * @param records what the edit is made of, when all of that landed before
 * @returns the edit, with the failure of counting its tokens; or `null` when it has to be computed again, because the history was rewritten while
 * it was being recorded, or reasoning came in that would stand behind it
 */
export async function applyEdit(
  parts: SessionParts,
  found: DensityResult,
  foundBase: DensityBase,
  signal: AbortSignal | undefined,
  records?: JournalRecords,
): Promise<StepOutcome<AppliedEdit> | null> {
  const { history, recorder, sent } = parts;
  const tokensBefore = history.getTotalTokens();
  const { result, base } = withReasoning(parts, found, foundBase);
  const changes = listChanges(history.getRawHistory(), result);
  if (recorder !== undefined) await abortable(recorder.record('pruned', changes, signal), signal);
  if (history.revision !== base.revision) return null;
  if (strips(parts) && holdsReasoning(history.getRawHistory(), base.length)) return null;
  const changedTokens = sumOf(changes, ({ before }) => before, history);
  const applied = history.applyDensityResult(result, base, records);
  const toRevision = history.revision;
  const failure = await failureOf(applied);
  sent.noteRewrite({
    fromRevision: base.revision,
    toRevision,
    intactEntries: changes[0]?.index ?? base.length,
    reclaimedTokens: changedTokens - sumOf(changes, ({ after }) => after, history),
  });
  return { event: { changes, tokensBefore, tokensAfter: history.getTotalTokens() }, failure };
}

/**
 * Takes the reasoning out of the entries that came in behind a rewrite while that was made; it stays
 * when it cannot be recorded, as the rewrite itself stands.
 */
export async function stripLateReasoning(
  parts: SessionParts,
  fromEntry: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { history } = parts;
  const { revision } = history;
  const place = { entry: fromEntry, block: 0 };
  while (strips(parts) && history.revision === revision) {
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

function strips({ edits }: SessionParts): boolean {
  return edits.reasoning !== 'keep';
}

/** What is stripped may stand behind the base that the edit was found on: the history has grown since. */
function withReasoning(
  parts: SessionParts,
  result: DensityResult,
  base: DensityBase,
): { readonly result: DensityResult; readonly base: DensityBase } {
  if (!strips(parts)) return { result, base };
  const entries = parts.history.getRawHistory();
  const { revision } = base;
  return { result: stripReasoning(result, entries), base: { revision, length: entries.length } };
}

function sumOf(
  changes: readonly EntryChange[],
  entryOf: (change: EntryChange) => IContent | null,
  history: HistoryService,
): number {
  return changes.reduce((sum, change) => {
    const entry = entryOf(change);
    if (entry === null) return sum;
    return sum + tokensOf(entry, (counted) => history.countedTokens(counted));
  }, 0);
}

function listChanges(
  history: readonly IContent[],
  { removals, replacements }: DensityResult,
): readonly EntryChange[] {
  const changes: EntryChange[] = [];
  const note = (index: number, after: IContent | null): void => {
    const before = history[index];
    if (before !== undefined) changes.push({ index, before, after });
  };
  for (const index of removals) note(index, null);
  for (const [index, after] of replacements) note(index, after);
  return changes.sort((a, b) => a.index - b.index);
}
