// Where the turn in progress begins, and what edits must leave there if reasoning is kept: Claude refuses a thinking budget for a turn
// that does not begin with thinking. Pure: makes edits, applies none.

import { hasSubstance } from '../../shared/content.js';
import type { IContent } from '../../shared/content.js';
import { findTurnStart } from '../../shared/turn-start.js';
import type { TurnStart } from '../../shared/turn-start.js';
import { isAcknowledgement } from '../summarizer/summary-note.js';
import { beginsWithReasoning } from './reasoning-policy.js';

function turnStartIn(history: readonly IContent[]): TurnStart {
  return findTurnStart(history, ({ speaker, blocks }) => {
    if (speaker === 'ai') return 'answer';
    if (speaker === 'tool') return 'results';
    return blocks.some(hasSubstance) ? 'words' : 'other';
  });
}

/**
 * Returns the entries with calls that an edit must leave as they are, so that the turn in progress still begins with reasoning: the
 * one that begins it, unless one with reasoning takes its place, and those that the user has spoken beside the results of, since
 * these words alone would begin another turn. None, if the turn begins without.
 *
 * @param losesCalls whether the edit removes calls of an entry
 */
export function heldForTurnStart(
  history: readonly IContent[],
  losesCalls: (index: number) => boolean,
): readonly number[] {
  const { start } = turnStartIn(history);
  if (!beginsWithReasoning(history[start]?.blocks)) return [];
  const held = new Set<number>();
  let [call, isAnswered, isFound] = [start, false, false];
  for (let at = start; at < history.length; at += 1) {
    const { speaker } = history[at] as IContent;
    if (speaker === 'tool') isAnswered = true;
    else if (speaker === 'human') {
      if (isAnswered && losesCalls(call)) held.add(call);
    } else {
      [call, isAnswered] = [at, false];
      if (isFound) continue;
      isFound = !losesCalls(at);
      if (beginsWithReasoning(history[at]?.blocks)) continue;
      isFound = true;
      held.add(start);
    }
  }
  return [...held];
}

/** Returns the indices of the answers that begin a turn, up to the first results, and of these results. */
function exchangeFrom(history: readonly IContent[], start: number): readonly number[] {
  const exchange: number[] = [];
  let isAnswered = false;
  for (let at = start; at < history.length; at += 1) {
    const { speaker } = history[at] as IContent;
    if (speaker === 'ai' && isAnswered) break;
    if (speaker === 'tool') isAnswered = true;
    if (speaker !== 'human') exchange.push(at);
  }
  return exchange;
}

/**
 * Returns the entries that must stay if others of the turn in progress are dropped, oldest first: the question, and the exchange that
 * begins to answer it with reasoning. None, if all answers of the turn have reasoning.
 */
export function pinnedForTurnStart(history: readonly IContent[]): readonly number[] {
  const { question, start } = turnStartIn(history);
  if (!heldForTurnStart(history, () => true).includes(start)) return [];
  return [...(question === -1 ? [] : [question]), ...exchangeFrom(history, start)];
}

/**
 * Returns a compressed history whose turn in progress begins with reasoning, if it did before: with the former exchange at its start in
 * front of what is left of it, and without what would be the start instead: the acknowledgement of a summary, and answers without
 * calls in front of a summary. If an earlier turn has lost its end, that is restored, too, because the rest would become part of this
 * turn. The same list if nothing is missing. The order of entries stays.
 */
export function withTurnStart(
  rewritten: readonly IContent[],
  former: readonly IContent[],
): readonly IContent[] {
  const { question, start } = turnStartIn(former);
  if (!beginsWithReasoning(former[start]?.blocks) || beginsTurn(rewritten)) return rewritten;
  const bare = rewritten.filter((entry) => !isAcknowledgement(entry) || former.includes(entry));
  const exchange = exchangeFrom(former, start).map((at) => former[at] as IContent);
  const others = bare.filter((entry) => !exchange.includes(entry));
  const turn = new Set(former.slice(start));
  const left = others.findIndex((entry) => turn.has(entry));
  if (beginsTurn(bare) || left === -1) return bare;
  const before = left === 0 ? former.slice(question, question + 1) : others.slice(0, left);
  const restored = [...before, ...exchange, ...others.slice(left)];
  while (!beginsTurn(restored)) {
    const { question: asked } = turnStartIn(restored);
    const said = restored.findLastIndex(({ speaker }, at) => speaker === 'ai' && at < asked);
    if (said < before.length + exchange.length) break;
    restored.splice(said, 1);
  }
  const end = former.findLast(({ speaker }, at) => speaker === 'ai' && at < question);
  if (end === undefined || beginsTurn(restored)) return restored;
  const place = before.findLastIndex(({ speaker }) => speaker !== 'human') + 1;
  return restored.toSpliced(place, 0, end);
}

/** Whether the turn in progress has no answer yet, or begins with reasoning. */
function beginsTurn(history: readonly IContent[]): boolean {
  const { start } = turnStartIn(history);
  return start === -1 || beginsWithReasoning(history[start]?.blocks);
}
