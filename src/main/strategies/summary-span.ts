// Which entries a summary stands in for, and which stay around it word for word. Pure.

import type { IContent } from '../../shared/content.js';
import { groupToolEntries } from '../../shared/summarize/entry-groups.js';
import type { HistoryOutline } from '../../shared/summarize/history-outline.js';
import { newestAsked } from '../../shared/summarize/truncation.js';
import { isWorkNote } from '../../shared/work/work-note.js';
import { isProviderEntry } from './provider-compaction.js';
import { isAcknowledgement, isSummaryNote } from '../summarizer/summary-note.js';

/** A history in parts, each in the order of the history. */
export interface SummarySpan {
  /** What stays in front of the summary. */
  readonly top: readonly IContent[];
  /** What the summary replaces, earlier summaries aside. */
  readonly summarized: readonly IContent[];
  /** Earlier summaries, which the new one replaces as well. */
  readonly notes: readonly IContent[];
  /** What would be replaced but must stay: it stands behind the summary. */
  readonly kept: readonly IContent[];
  readonly tail: readonly IContent[];
  /** What the model is shown: `summarized`, and what the user asked last unless that stands in the tail. */
  readonly shown: readonly IContent[];
}

/**
 * Divides a history for a summary of the entries from `start` up to `tailStart`, neither of which may
 * stand between a call and its response. Open calls stay, and what the user asked last; earlier
 * summaries leave the top too, so that they do not pile up, and with them what no human entry precedes.
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
  /** Groups at the beginning whose summary leaves: without it, the top would begin with an ai entry. */
  const headless = new Set<number>();
  let hasNote = false;
  history.slice(0, tailStart).forEach((entry, index) => {
    // What was asked and done is carried on from it whatever becomes of it here; the summary need not tell it again.
    if (isWorkNote(entry)) {
      hasNote = true;
      return;
    }
    // What only the provider can read stands first, and stays.
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
