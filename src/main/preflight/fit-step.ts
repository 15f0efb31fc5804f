// The last step of a preflight: cuts a history that still does not fit the window, without calling a model.

import type { IContent } from '../../shared/content.js';
import { isEmptyDensityResult, NO_EDITS } from '../../shared/density.js';
import { ContextWindowExceededError } from '../../shared/errors.js';
import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { summarizeEntry } from '../../shared/summarize/tool-summary.js';
import { unsentStart } from '../../shared/summarize/truncation.js';
import { fitToWindow } from '../../shared/summarize/window-fit.js';
import type { Fittable, WindowFit } from '../../shared/summarize/window-fit.js';
import { abortable } from '../waiting/abortable.js';
import { addWorkNote, maxNoteTokens } from './add-work-note.js';
import { applyEdit, failureOf, replaceHistory, stripLateReasoning } from './apply-edit.js';
import type { StepOutcome } from './apply-edit.js';
import type { ContextGauge } from './context-gauge.js';
import { restoreLines, RESTORED_SHARE } from './restore-lines.js';
import type { FittedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';
import { pinnedForTurnStart } from './turn-start.js';

/**
 * Summarizes the largest tool results, then drops the oldest turns, until the present request fits the model's window.
 *
 * @returns what changed; the event is `null` if the request fit already
 * @throws ContextWindowExceededError that names the largest part if the request cannot fit; nothing has changed then.
 */
export async function fitHistory(
  parts: SessionParts,
  signal: AbortSignal | undefined,
): Promise<StepOutcome<FittedEvent | null>> {
  for (;;) {
    const former = parts.history.getAll();
    const outcome = await tryFit(parts, signal);
    if (outcome === 'stale') {
      parts.logger.debug('the history was rewritten while it was made to fit');
      continue;
    }
    const { event, failure } = outcome;
    if (event === null) return outcome;
    const lateFailure = await failureOf(completeCut(parts, former, event));
    const tokensAfter = parts.history.getTotalTokens();
    return { event: { ...event, tokensAfter }, failure: failure ?? lateFailure };
  }
}

/**
 * Adds the note of the dropped requests and work, and restores lines in results that referred to removed results, as far as there
 * is room.
 */
async function completeCut(
  parts: SessionParts,
  former: readonly IContent[],
  { droppedEntries }: FittedEvent,
): Promise<void> {
  const { history, sent, gauge } = parts;
  const { revision } = history;
  const noteTokens = droppedEntries > 0 ? maxNoteTokens(parts) : 0;
  while (history.revision === revision) {
    const { base } = history;
    const tokensBefore = history.getTotalTokens();
    const left = gauge.roomTokens() - tokensBefore;
    const cut = history.getAll();
    const isNoted = noteTokens > 0 && noteTokens <= left;
    const noted = isNoted ? addWorkNote(parts, former, cut, Infinity) : cut;
    const room = RESTORED_SHARE * (noted === cut ? left : left - noteTokens);
    const { newHistory } = await restoreLines(parts, former, noted, room);
    if (newHistory === cut) return;
    const intactEntries = replaceHistory(parts, newHistory, base);
    // Entries were added meanwhile: try again. If the host has rewritten the history instead, the loop ends.
    if (intactEntries === null) continue;
    const { revision: toRevision } = history;
    await history.waitForTokenUpdates();
    sent.noteReclaimed(tokensBefore - history.getTotalTokens(), toRevision);
    await stripLateReasoning(parts, intactEntries, undefined);
    return;
  }
}

async function tryFit(
  parts: SessionParts,
  signal: AbortSignal | undefined,
): Promise<StepOutcome<FittedEvent | null> | 'stale'> {
  const { history, gauge } = parts;
  const { base } = history;
  const room = gauge.roomTokens();
  const entries = history.getAll();
  const { outline, callOf } = outlineHistory(entries);
  const { isForAgents, runtimeContext } = parts.config;
  const placeholder = runtimeContext.ephemerals.densityPlaceholder?.();
  const summaries = entries.map((entry, index) =>
    summarizeEntry(entry, index, callOf, placeholder, isForAgents),
  );
  const [tokens, summarizedTokens] = await abortable(
    Promise.all([history.countEach(entries), history.countEach(summaries)]),
    signal,
  );
  signal?.throwIfAborted();
  if (history.revision !== base.revision) return 'stale';
  const pinned = parts.reasoningTerms.keepsTurnStart ? pinnedForTurnStart(entries) : [];
  const fit = fitBelow(parts, { outline, tokens, summarizedTokens, pinned }, room);
  if (fit.tokens > room) {
    const summarized = new Set(fit.summarized);
    const leftTokens = tokens.map((count, index) =>
      summarized.has(index) ? (summarizedTokens[index] ?? count) : count,
    );
    throw windowExceeded(entries, leftTokens, fit, gauge);
  }
  const replacements = fit.summarized.flatMap((index) => {
    const summary = summaries[index];
    return summary === undefined ? [] : [[index, summary] as const];
  });
  const result = { ...NO_EDITS, removals: fit.dropped, replacements: new Map(replacements) };
  if (isEmptyDensityResult(result)) return { event: null };
  const landed = await applyEdit(parts, result, base, signal);
  if (landed === null) return 'stale';
  const counts = { summarizedEntries: fit.summarized.length, droppedEntries: fit.dropped.length };
  return { event: { ...counts, ...landed.event }, failure: landed.failure };
}

/**
 * A cut goes down to this share of the room, at which strategies compress by default. Each cut rewrites most of what the prompt
 * cache holds, and if nothing else makes the history smaller (a summarizing model that is down), the next call would need another.
 */
const CUT_TARGET_SHARE = 0.85;

function fitBelow(parts: SessionParts, input: Fittable, room: number): WindowFit {
  const mark = parts.history.getTotalTokens() > room ? CUT_TARGET_SHARE * room : room;
  const fit = fitWithNote(parts, input, mark);
  if (fit.tokens <= mark && leavesUnsent(fit, input)) return fit;
  const least = fitWithNote(parts, input, room);
  const isBetter = least.tokens <= room && leavesUnsent(least, input);
  return fit.tokens <= mark && !isBetter ? fit : least;
}

/**
 * Whether a fit leaves all entries alone that the model has not seen yet. Another cut, once the model has seen them, costs less
 * than the model calling for the same content again.
 */
function leavesUnsent({ summarized, dropped }: WindowFit, { outline }: Fittable): boolean {
  const unsent = unsentStart(outline);
  return [...summarized, ...dropped].every((entry) => entry < unsent);
}

/** If anything is dropped, leaves room for the note of it, unless the rest cannot be made that small. */
function fitWithNote(parts: SessionParts, input: Fittable, room: number): WindowFit {
  const fit = fitToWindow(input, room);
  if (fit.dropped.length === 0 || !parts.config.isForAgents) return fit;
  const withNote = fitToWindow(input, room - maxNoteTokens(parts));
  return withNote.tokens <= room - maxNoteTokens(parts) ? withNote : fit;
}

/**
 * Makes the error. Its numbers are in the model's own tokens.
 *
 * @param tokens counted tokens of each entry, after everything possible is summarized
 */
function windowExceeded(
  entries: readonly IContent[],
  tokens: readonly number[],
  { dropped, tokens: leftTokens }: WindowFit,
  gauge: ContextGauge,
): ContextWindowExceededError {
  const gone = new Set(dropped);
  const left = entries.flatMap((entry, index) => {
    if (gone.has(index)) return [];
    const ofEntry = gauge.toModelTokens(tokens[index] ?? 0);
    const name = `${describe(entry)} (entry ${index}, ${ofEntry} tokens)`;
    return [{ tokens: ofEntry, name }];
  });
  const { contextLimit, overheadTokens, pendingTokens } = gauge;
  const parts = [
    ...left,
    {
      tokens: pendingTokens,
      name: `the ${pendingTokens} tokens that the request holds besides the history`,
    },
    { tokens: overheadTokens, name: `the ${overheadTokens} tokens of overheadTokens` },
  ];
  const culprit = parts.reduce((most, part) => (part.tokens > most.tokens ? part : most));
  const neededTokens = gauge.toModelTokens(leftTokens) + overheadTokens + pendingTokens;
  return new ContextWindowExceededError(
    `The next request needs ${neededTokens} tokens, the context window has ${contextLimit}, and nothing ` +
      `more can be dropped. The largest part is ${culprit.name}: make it smaller, or use a model with a larger window.`,
    neededTokens,
    contextLimit,
  );
}

function describe(entry: IContent): string {
  if (entry.speaker === 'human') return 'the newest human entry';
  return entry.speaker === 'ai'
    ? 'an ai entry whose tool calls have no response yet'
    : 'a tool entry that belongs to tool calls without a response';
}
