// The last step of the pre-send window: a history that still does not fit is made to, without a model.

import type { IContent } from '../../shared/content.js';
import { isEmptyDensityResult, NO_EDITS } from '../../shared/density.js';
import { ContextWindowExceededError } from '../../shared/errors.js';
import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { summarizeEntry } from '../../shared/summarize/summarize-entry.js';
import { fitToWindow } from '../../shared/summarize/window-fit.js';
import type { WindowFit } from '../../shared/summarize/window-fit.js';
import { abortable } from '../waiting/abortable.js';
import { applyEdit } from './apply-edit.js';
import type { AppliedEdit } from './apply-edit.js';
import type { FittedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';
import type { TokenBudget } from './token-budget.js';

/** What the window has room for. */
export interface WindowDemand {
  readonly budget: TokenBudget;
  /** Tokens of the request besides history and overhead, in the model's own tokens. */
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
  const room = demand.budget.roomTokens(demand.pendingTokens);
  const entries = history.getAll();
  const { outline, callOf } = outlineHistory(entries);
  const placeholder = parts.runtimeContext.ephemerals.densityPlaceholder?.();
  const summaries = entries.map((entry, index) =>
    summarizeEntry(entry, index, callOf, placeholder),
  );
  const [tokens, summarizedTokens] = await abortable(
    Promise.all([history.countEach(entries), history.countEach(summaries)]),
    signal,
  );
  signal?.throwIfAborted();
  if (history.revision !== base.revision) return 'stale';
  const fit = fitToWindow({ outline, tokens, summarizedTokens }, room);
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

/**
 * `tokens` are the counted ones of each entry when all that can be summarized is. The message speaks
 * of the model's own tokens throughout.
 */
function exceeded(
  entries: readonly IContent[],
  tokens: readonly number[],
  { dropped, tokens: leftTokens }: WindowFit,
  { budget, pendingTokens }: WindowDemand,
): ContextWindowExceededError {
  const gone = new Set(dropped);
  const left = entries.flatMap((entry, index) => (gone.has(index) ? [] : [{ entry, index }]));
  const largest = left.reduce<{ entry: IContent; index: number } | undefined>(
    (most, at) => ((tokens[at.index] ?? 0) > (tokens[most?.index ?? -1] ?? -1) ? at : most),
    undefined,
  );
  const { contextLimit, overheadTokens } = budget;
  const entryTokens = budget.toModelTokens(tokens[largest?.index ?? -1] ?? 0);
  const parts = [
    {
      tokens: pendingTokens,
      name: `the ${pendingTokens} tokens that the request holds besides the history`,
    },
    { tokens: overheadTokens, name: `the ${overheadTokens} tokens of overheadTokens` },
  ];
  if (largest !== undefined) {
    const name = `${describe(largest.entry)} (entry ${largest.index}, ${entryTokens} tokens)`;
    parts.unshift({ tokens: entryTokens, name });
  }
  const culprit = parts.reduce((most, part) => (part.tokens > most.tokens ? part : most));
  const neededTokens = budget.toModelTokens(leftTokens) + overheadTokens + pendingTokens;
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
