// Keeps a record of requests and work across compactions by any strategy: one note of bounded size in place of the removed entries.
// Calls no model and applies nothing.

import { isToolResponseBlock } from '../../shared/content.js';
import type { IContent } from '../../shared/content.js';
import { NONE } from '../../shared/density/index/history-columns.js';
import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { moveBeforePairs } from '../../shared/summarize/plan-compression.js';
import { newestUserEntry } from '../../shared/summarize/truncation.js';
import { lineBytes } from '../../shared/work/keep-words.js';
import { isWorkNote, readWorkNote, workNote } from '../../shared/work/work-note.js';
import { gatherWork, NO_WORK } from '../../shared/work/work-record.js';
import type { EntryFate } from '../../shared/work/work-record.js';
import { isProviderEntry } from '../strategies/provider-compaction.js';
import { firstDifference } from './reasoning-policy.js';
import type { SessionParts } from './session-parts.js';

/** Upper bounds of the note's tokens: a share of the window, and a share of what the compaction saved. */
const WINDOW_SHARE = 0.05;
const SAVED_SHARE = 0.25;

/** A lower bound for the UTF-8 bytes per token in nearly any script. */
const BYTES_PER_TOKEN = 3;

/**
 * Adds a note about the requests and work in the removed entries to a compacted history, in place of an earlier note. The note goes
 * where the two lists begin to differ, or before that if it would split a call from its response. Returns the same list if there
 * is nothing to note.
 *
 * @param savedTokens counted tokens that the compaction removes
 * @param keepsReasoning whether reasoning behind a provider's compaction stays valid. If so, an earlier note stays, because that
 *   reasoning is bound to it, and the new note goes to the end @default false
 */
export function addWorkNote(
  parts: Pick<SessionParts, 'config' | 'gauge'>,
  former: readonly IContent[],
  compacted: readonly IContent[],
  savedTokens: number,
  keepsReasoning = false,
): readonly IContent[] {
  if (!parts.config.isForAgents) return compacted;
  const fateOf = fatesIn(former, compacted);
  const note = former.findLast(isWorkNote);
  const { outline, callOf } = outlineHistory(former);
  const { toolCatalog } = parts.config.densityOptions;
  const earlier = note === undefined ? NO_WORK : readWorkNote(note);
  const record = gatherWork({ history: former, fateOf, callOf, toolCatalog, earlier });
  const hasLost =
    record.userWords.length > earlier.userWords.length ||
    record.done.size > earlier.done.size ||
    former.some((entry) => fateOf(entry) === 'removed');
  if (!hasLost && (note === undefined || compacted.includes(note))) return compacted;
  const tokens = Math.min(maxNoteTokens(parts), savedTokens * SAVED_SHARE);
  const maxNewestBytes = savedTokens * SAVED_SHARE * BYTES_PER_TOKEN;
  const asked = former[newestUserEntry(outline)];
  const isNewestGone = asked === undefined || fateOf(asked) === 'removed';
  const keepsNewest = isNewestGone && lineBytes(record.userWords.at(-1) ?? '') <= maxNewestBytes;
  const newNote = workNote(record, Math.floor(tokens * BYTES_PER_TOKEN), keepsNewest);
  if (newNote === null) return compacted;
  if (keepsReasoning) return insertNote(newNote, compacted, compacted.length);
  const others = compacted.filter((entry) => !isWorkNote(entry));
  return insertNote(newNote, others, placeOfNote(others, former));
}

/**
 * Moves the note of a compaction that was made ahead of time to the end, behind entries added since: these may hold reasoning, which
 * a note in front would invalidate.
 *
 * @param compacted the compacted history; a note that `former` holds as well is not moved
 */
export function moveNoteToEnd(
  compacted: readonly IContent[],
  former: readonly IContent[],
): readonly IContent[] {
  const note = compacted.findLast(isWorkNote);
  if (note === undefined || former.includes(note)) return compacted;
  const others = compacted.filter((entry) => entry !== note);
  return insertNote(note, others, others.length);
}

function insertNote(note: IContent, others: readonly IContent[], near: number): IContent[] {
  const at = wholeBoundary(others, near);
  return [...others.slice(0, at), note, ...others.slice(at)];
}

/** Maximum counted tokens of a note, whatever the compaction saved. */
export function maxNoteTokens({ gauge }: Pick<SessionParts, 'gauge'>): number {
  return gauge.windowTokens * WINDOW_SHARE;
}

/**
 * Returns a function that says what a compaction made of an entry. A user's message counts as kept if one with the same text
 * remains, and a tool entry as shortened if a new entry answers one of its calls.
 */
function fatesIn(
  former: readonly IContent[],
  compacted: readonly IContent[],
): (entry: IContent) => EntryFate {
  const kept = new Set(compacted);
  const formerEntries = new Set(former);
  const answered = new Set<string>();
  const userTexts = new Set<string>();
  for (const entry of compacted) {
    if (formerEntries.has(entry)) continue;
    for (const callId of answeredCallIds(entry)) answered.add(callId);
    if (entry.speaker === 'human') userTexts.add(textIn(entry));
  }
  return (entry) => {
    if (kept.has(entry) || isWorkNote(entry)) return 'kept';
    if (entry.speaker === 'human') return userTexts.has(textIn(entry)) ? 'kept' : 'removed';
    return answeredCallIds(entry).some((callId) => answered.has(callId)) ? 'shortened' : 'removed';
  };
}

function answeredCallIds({ blocks }: IContent): readonly string[] {
  return blocks.filter(isToolResponseBlock).map(({ callId }) => callId);
}

function textIn({ blocks }: IContent): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

/** The index of the note: where the lists begin to differ, but behind a provider's compaction, which must come first. */
function placeOfNote(compacted: readonly IContent[], former: readonly IContent[]): number {
  const made = compacted.findIndex((entry) => !isProviderEntry(entry));
  return Math.max(made === -1 ? compacted.length : made, firstDifference(compacted, former));
}

/** Returns the nearest index at or before `boundary` such that no call in front of it is open or answered behind it. */
export function wholeBoundary(history: readonly IContent[], boundary: number): number {
  const { outline } = outlineHistory(history);
  const responseEntries = outline.responseEntries.map((at) => (at === NONE ? history.length : at));
  return moveBeforePairs(boundary, { ...outline, responseEntries });
}
