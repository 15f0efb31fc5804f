// The tokens that a worker predicts for an entry whose blocks are edited in several ways at once.

import { describe, expect, it } from 'vitest';
import { aiContent, toolCall, toolContent, toolResponse } from '../../src/shared/content.js';
import { scopeOfSession } from '../../src/shared/density/index/index-scope.js';
import { HistoryIndex } from '../../src/shared/density/index/history-index.js';
import { ACTION } from '../../src/shared/density/rules/marks.js';
import { countEntryTokens, measureEntries } from '../../src/shared/tokens/count-tokens.js';
import { ResidentFacts } from '../../src/worker/resident-facts.js';
import { tokensAfterPlan } from '../../src/worker/tokens-after-plan.js';
import { countThirds } from '../support/piece-counters.js';
import { RESIDENT_AGENT } from '../support/resident-session.js';

const { drop, excerpt, pointer, shorten } = ACTION;
const [first, second, third] = ['a', 'b', 'c'].map((id) => {
  return toolResponse(id, 'run', `what ${id.repeat(50)} said`);
}) as [ReturnType<typeof toolResponse>, ...ReturnType<typeof toolResponse>[]];
const CALLS = ['a', 'b', 'c'].map((id) => toolCall(id, 'run', { command: id.repeat(40) }));
const HISTORY = [aiContent(CALLS), toolContent([first, second!, third!])];

/** @param rows entry, block and action of each */
function after(...rows: readonly (readonly [number, number, number])[]): readonly number[] {
  const index = new HistoryIndex(scopeOfSession(RESIDENT_AGENT));
  const facts = new ResidentFacts();
  for (const content of HISTORY) {
    index.append(content);
    const { tokens, ...parts } = measureEntries([content], countThirds);
    facts.append(index, { content, tokens: tokens[0] ?? 0, ...parts });
  }
  const plan = Int32Array.from(rows.flatMap((row) => [...row, 0, -1, -1]));
  return [...tokensAfterPlan(plan, index, facts, { placeholder: () => 7, texts: [] })];
}

function tokensOf(entry: number, blocks: readonly number[]): number {
  const of = HISTORY[entry]!;
  const left = of.blocks.filter((_, at) => blocks.includes(at));
  return countEntryTokens({ ...of, blocks: left }, countThirds);
}

describe('tokensAfterPlan', () => {
  it('omits every change if a part of it is left to be counted', () => {
    expect(after([1, 0, excerpt], [1, 2, pointer])).toEqual([1, tokensOf(1, [1]), 1]);
    expect(after([0, 0, shorten], [0, 1, drop], [1, 1, drop])).toEqual([
      ...[0, tokensOf(0, [2]), 1],
      ...[1, tokensOf(1, [0, 2]), 0],
    ]);
  });
});
