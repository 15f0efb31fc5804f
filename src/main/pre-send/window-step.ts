// The last step of the pre-send window: a history that still does not fit is made to, without a model.

import type { IContent } from '../../shared/content.js';
import { isEmptyDensityResult, NO_EDITS } from '../../shared/density.js';
import { ContextWindowExceededError } from '../../shared/errors.js';
import { summarizeEntry } from '../../shared/summarize/summarize-entry.js';
import { fitToWindow } from '../../shared/summarize/window-fit.js';
import type { WindowFit } from '../../shared/summarize/window-fit.js';
import { pairTools } from '../../shared/tool-pairs.js';
import { abortable } from '../abortable.js';
import { applyEdit } from './apply-edit.js';
import type { AppliedEdit } from './apply-edit.js';
import type { FittedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';

/** What the window holds besides the history. */
export interface WindowDemand {
  /** Tokens that the model accepts. */
  readonly contextLimit: number;
  /** Tokens of the request besides the history. */
  readonly pendingTokens: number;
}

/**
 * Summarizes the largest tool results, then drops oldest turns, until history and pending tokens fit.
 *
 * @param tell hears of what changed, also when counting its tokens fails
 * @returns what changed, or `null` when nothing had to
 * @throws ContextWindowExceededError that says which part cannot fit; nothing has changed then.
 */
export async function fitHistory(
  parts: SessionParts,
  demand: WindowDemand,
  tell: (event: FittedEvent) => void,
  signal: AbortSignal | undefined,
): Promise<FittedEvent | null> {
  for (;;) {
    const outcome = await tryFit(parts, demand, tell, signal);
    if (outcome !== 'stale') return outcome;
    parts.logger.debug('the history was rewritten while it was made to fit');
  }
}

async function tryFit(
  parts: SessionParts,
  demand: WindowDemand,
  tell: (event: FittedEvent) => void,
  signal: AbortSignal | undefined,
): Promise<FittedEvent | 'stale' | null> {
  const { history } = parts;
  const { base } = history;
  const room = demand.contextLimit - demand.pendingTokens;
  const entries = history.getAll();
  const tools = pairTools(entries);
  const summaries = entries.map((entry, index) => summarizeEntry(entry, index, tools));
  const [tokens, summarizedTokens] = await abortable(
    Promise.all([history.countEach(entries), history.countEach(summaries)]),
    signal,
  );
  signal?.throwIfAborted();
  if (history.revision !== base.revision) return 'stale';
  const fit = fitToWindow({ history: entries, tokens, summarizedTokens }, room);
  if (fit.tokens > room) {
    const summarized = new Set(fit.summarized);
    const leftTokens = tokens.map((count, index) =>
      summarized.has(index) ? (summarizedTokens[index] ?? count) : count,
    );
    throw exceeded(entries, leftTokens, fit, demand);
  }
  const replacements = fit.summarized.flatMap((index) => {
    const summary = summaries[index];
    return summary === undefined ? [] : [[index, summary] as const];
  });
  const result = { ...NO_EDITS, removals: fit.dropped, replacements: new Map(replacements) };
  if (isEmptyDensityResult(result)) return null;
  const counts = { summarizedEntries: fit.summarized.length, droppedEntries: fit.dropped.length };
  const tellEdit = (applied: AppliedEdit): void => {
    tell({ ...counts, ...applied });
  };
  const applied = await applyEdit(parts, result, base, tellEdit, signal);
  return applied === null ? 'stale' : { ...counts, ...applied };
}

/** `tokens` are those of each entry when all that can be summarized is. */
function exceeded(
  entries: readonly IContent[],
  tokens: readonly number[],
  { dropped, tokens: leftTokens }: WindowFit,
  { contextLimit, pendingTokens }: WindowDemand,
): ContextWindowExceededError {
  const gone = new Set(dropped);
  const left = entries.flatMap((entry, index) => (gone.has(index) ? [] : [{ entry, index }]));
  const largest = left.reduce<{ entry: IContent; index: number } | undefined>(
    (most, at) => ((tokens[at.index] ?? 0) > (tokens[most?.index ?? -1] ?? -1) ? at : most),
    undefined,
  );
  const culprit =
    largest === undefined || (tokens[largest.index] ?? 0) < pendingTokens
      ? `the ${pendingTokens} tokens that the request holds besides the history`
      : `${describe(largest.entry)} (entry ${largest.index}, ${tokens[largest.index] ?? 0} tokens)`;
  return new ContextWindowExceededError(
    `The next request needs ${leftTokens + pendingTokens} tokens, the context window has ${contextLimit}, and nothing ` +
      `more can be dropped. The largest part is ${culprit}: make it smaller, or use a model with a larger window.`,
    leftTokens + pendingTokens,
    contextLimit,
  );
}

function describe(entry: IContent): string {
  if (entry.speaker === 'human') return 'the newest human entry';
  return entry.speaker === 'ai'
    ? 'an ai entry whose tool calls have no response yet'
    : 'a tool entry that belongs to tool calls without a response';
}
