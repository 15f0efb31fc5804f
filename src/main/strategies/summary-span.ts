// Which entries a summary replaces, and which stay around it verbatim. Pure.

import type { IContent } from '../../shared/content.js';
import { groupToolEntries } from '../../shared/summarize/entry-groups.js';
import type { HistoryOutline } from '../../shared/summarize/history-outline.js';
import { newestAsked } from '../../shared/summarize/truncation.js';
import { isWorkNote } from '../../shared/work/work-note.js';
import { isProviderEntry } from './provider-compaction.js';
import { isAcknowledgement, isSummaryNote } from '../summarizer/summary-note.js';

/** A history split into parts, each in the original order. */
export interface SummarySpan {
  /** Stays in front of the summary. */
  readonly top: readonly IContent[];
  /** Replaced by the summary, without earlier summaries. */
  readonly summarized: readonly IContent[];
  /** Earlier summaries, replaced as well. */
  readonly notes: readonly IContent[];
  /** Would be replaced but must stay; stands behind the summary. */
  readonly kept: readonly IContent[];
  readonly tail: readonly IContent[];
  /** What the model is shown: `summarized`, and the user's last request unless it is in the tail. */
  readonly shown: readonly IContent[];
}

/**
 * Splits a history for a summary of the entries from `start` to `tailStart`; neither boundary may split a call from its
 * response. Open calls and the user's last request stay. Earlier summaries are removed from the top, too, so that they do not
 * pile up, together with leading entries that no human entry precedes.
 */
export function summarySpan(
  history: readonly IContent[],
  outline: HistoryOutline,
  start: number,
  tailStart: number,
): SummarySpan {
  const groups = groupToolEntries(outline);
  const asked = newestAsked(outline);
  const top: IContent[] = [];
  const summarized: IContent[] = [];
  const notes: IContent[] = [];
  const kept: IContent[] = [];
  const shown: IContent[] = [];
  /** Leading groups whose summary is removed: with them, the top would start with an ai entry. */
  const headless = new Set<number>();
  let hasNote = false;
  history.slice(0, tailStart).forEach((entry, index) => {
    // Compactions maintain the work note themselves, so the summary need not repeat it.
    if (isWorkNote(entry)) {
      hasNote = true;
      return;
    }
    // Only the provider can read it; it stays in front.
    if (isProviderEntry(entry)) {
      top.push(entry);
      return;
    }
    if (isSummaryNote(entry)) {
      hasNote = true;
      notes.push(entry);
      return;
    }
    if (isAcknowledgement(entry)) return;
    const group = groups.find(index);
    const isPinned = groups.isPinned(group);
    if (top.length === 0 && hasNote && entry.speaker !== 'human') headless.add(group);
    const isTop = index < start && !headless.has(group);
    if (index === asked || (!isTop && !isPinned)) shown.push(entry);
    if (isTop) top.push(entry);
    else if (index === asked || isPinned) kept.push(entry);
    else summarized.push(entry);
  });
  return { top, summarized, notes, kept, tail: history.slice(tailStart), shown };
}
