// Applies one edit of the pre-send window: what it takes away is kept first, then it lands whole.

import type { IContent } from '../../shared/content.js';
import type { DensityBase, DensityResult } from '../../shared/density.js';
import { abortable } from '../abortable.js';
import type { EntryChange } from '../entry-change.js';
import type { SessionParts } from './session-parts.js';

/** An edit that was applied. Token totals are those of the whole history. */
export interface AppliedEdit {
  readonly changes: readonly EntryChange[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/**
 * Records and applies an edit that was computed from `base`. Aborting before it lands leaves the
 * history as it was; once it has landed, the wait for its tokens is no longer called off.
 *
 * @param tell hears of the edit once it stands, also when counting its tokens failed
 * @returns the edit, or `null` when the history was rewritten while it was being recorded
 */
export async function applyEdit(
  parts: SessionParts,
  result: DensityResult,
  base: DensityBase,
  tell: (edit: AppliedEdit) => void,
  signal: AbortSignal | undefined,
): Promise<AppliedEdit | null> {
  const { history } = parts;
  const tokensBefore = history.getTotalTokens();
  const changes = listChanges(history.getRawHistory(), result);
  if (parts.recordChanges !== undefined) {
    await abortable(parts.recordChanges('pruned', changes, signal), signal);
  }
  if (history.revision !== base.revision) return null;
  const applied = history.applyDensityResult(result, base);
  let edit: AppliedEdit;
  try {
    await applied;
  } finally {
    edit = { changes, tokensBefore, tokensAfter: history.getTotalTokens() };
    tell(edit);
  }
  return edit;
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
