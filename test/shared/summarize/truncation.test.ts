// Which entries are removed when summaries do not save enough.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { outlineHistory } from '../../../src/shared/summarize/history-outline.js';
import { findTailStart } from '../../../src/shared/summarize/plan-compression.js';
import { chooseDrops, chooseOldest } from '../../../src/shared/summarize/truncation.js';
import type { Truncatable } from '../../../src/shared/summarize/truncation.js';
import { fitToWindow } from '../../../src/shared/summarize/window-fit.js';
import { findViolations } from '../../../src/shared/validity.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { pairNaively } from '../../support/naive-pairs.js';
import { historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';
import { arbitraryRatio } from '../../support/arbitrary-ratio.js';

/** The input, and what the naive choice reads instead of the outline. */
interface Case extends Truncatable {
  readonly history: readonly IContent[];
  readonly tokens: readonly number[];
}

/** A history of entries that weigh 10 tokens each, with a tail of one entry. */
function truncatable(history: readonly IContent[], preserveThreshold = 0): Case {
  const { outline } = outlineHistory(history);
  const tailStart = findTailStart(outline, preserveThreshold);
  return { history, outline, tokens: history.map(() => 10), tailStart };
}

function dropsOf(notation: string, targetTokens: number): string {
  return chooseDrops(truncatable(historyOf(notation)), targetTokens).join(' ');
}

const total = (tokens: readonly number[]): number => tokens.reduce((sum, count) => sum + count, 0);

/** Drops by the written rules, with a new sum after each drop. */
function dropNaively(input: Case, targetTokens: number): readonly number[] {
  const { history, tokens, tailStart } = input;
  const pairs = pairNaively(history);
  const gone = new Set<number>();
  const isOver = (): boolean => total(tokens.filter((_, at) => !gone.has(at))) > targetTokens;
  const upToTail = history.slice(0, tailStart + 1);
  const opening = upToTail.findLastIndex(({ speaker }) => speaker === 'human');
  const newestUserEntry = history.findLastIndex(
    ({ speaker, metadata }) => speaker === 'human' && metadata?.isSummary !== true,
  );

  /** All entries that calls and responses tie to this one. */
  const tiedTo = (entry: number): ReadonlySet<number> => {
    const tied = new Set([entry]);
    for (let size = 0; size < tied.size;) {
      size = tied.size;
      for (const { callEntry, responseEntry } of pairs) {
        if (responseEntry === -1) continue;
        if (tied.has(callEntry)) tied.add(responseEntry);
        if (tied.has(responseEntry)) tied.add(callEntry);
      }
    }
    return tied;
  };
  const mustStay = (entry: number): boolean =>
    entry >= tailStart ||
    history[entry]?.blocks.some(
      (block) => block.type === 'tool_response' && block.isComplete === false,
    ) === true ||
    pairs.some((pair) => pair.callEntry === entry && pair.responseEntry === -1);

  for (let entry = 0; entry < tailStart && isOver(); entry += 1) {
    if (history[entry]?.speaker === 'human' || gone.has(entry)) continue;
    const tied = [...tiedTo(entry)];
    if (!tied.some(mustStay)) tied.forEach((one) => gone.add(one));
  }
  for (let entry = 0; entry < tailStart && isOver(); entry += 1) {
    if (entry === opening || entry === newestUserEntry) continue;
    if (history[entry]?.speaker === 'human') gone.add(entry);
  }
  return [...gone].sort((a, b) => a - b);
}

const CASES = fc
  .record({
    history: arbitraryHistory({ maxEntries: 120 }),
    weights: fc.array(fc.nat(500), { minLength: 1, maxLength: 50, size: 'max' }),
    preserveThreshold: fc.constantFrom(0, 0.1, 0.2, 0.5),
    share: arbitraryRatio(),
    summaries: fc.array(fc.nat(120), { maxLength: 3 }),
  })
  .map(({ history, weights, preserveThreshold, share, summaries }) => {
    const marked = history.map((entry, at): IContent =>
      entry.speaker === 'human' && summaries.includes(at)
        ? { ...entry, metadata: { isSummary: true } }
        : entry,
    );
    const tokens = marked.map((_, at) => weights[at % weights.length] ?? 0);
    const input = { ...truncatable(marked, preserveThreshold), tokens };
    return { input, targetTokens: Math.floor(total(tokens) * share) };
  });

describe('chooseDrops', () => {
  it('drops the instructions at the start of a history last', () => {
    const system = { ...humanText('system'), metadata: { synthetic: true } };
    const history = [system, ...historyOf('h:1 a h:2 a h:3')];
    expect(chooseDrops(truncatable(history), 30)).toEqual([1, 2, 4]);
    expect(chooseDrops(truncatable(history), 20)).toEqual([1, 2, 3, 4]);
    expect(chooseDrops(truncatable(history), 10)).toEqual([0, 1, 2, 3, 4]);
  });

  it('drops a summary of everything before as late', () => {
    const summary = { ...humanText('what was'), metadata: { synthetic: true, isSummary: true } };
    const history = [summary, ...historyOf('h:1 a h:2 a h:3')];
    expect(chooseDrops(truncatable(history), 20)).toEqual([1, 2, 3, 4]);
  });

  it.each([
    ['nothing if everything fits', 'h a h a', 40, ''],
    ['nothing of an empty history', '', 0, ''],
    ['the oldest ai entries', 'h a h a h a h', 50, '1 3'],
    ['a call with its response', 'h a:r1 t:r1 a h', 40, '1 2'],
    ['a call with its responses, wherever they are', 'h a:r1,w2 t:r1 h t:w2 a h', 50, '1 2 4'],
    ['calls that share a tool entry together', 'h a:r1 a:w2 t:r1,w2 a h', 50, '1 2 3'],
    ['a response without a call', 'h t:r1 a h', 30, '1'],
    ['human entries last', 'h:1 a h:2 a h:3 a', 20, '0 1 2 3'],
    ['all but the newest human entry', 'h:1 h:2 a a', 0, '0 2'],
    ['no call that is still open', 'h a:r1 a h', 0, '0 2'],
    ['no pair that shares an entry with an open call', 'h a:r1,w2 t:r1 a h', 0, '0 3'],
    ['no pair that shares an entry with one of these', 'h a:r1,w2 a:r3 t:r1,r3 a h', 0, '0 4'],
    ['no entry of the tail, nor what it answers', 'h a h a:r1 t:r1', 0, '0 1'],
    ['all but what the tail answers', 'h:1 a h:2 a:r1 h:3 t:r1', 0, '0 1'],
    ['all in front of a tail that begins with the user', 'h:1 a h:2 a h:3', 0, '0 1 2 3'],
  ])('drops %s', (_, notation, targetTokens, drops) => {
    expect(dropsOf(notation, targetTokens)).toBe(drops);
  });

  it('keeps the last question even if a summary came after it', () => {
    const [first, asked, summary, ...rest] = historyOf('h:1 h:2 h:3 a a');
    if (first === undefined || asked === undefined || summary === undefined) throw new Error();
    const history = [first, asked, { ...summary, metadata: { isSummary: true } }, ...rest];
    const drops = chooseDrops(truncatable(history), 0);
    expect(drops).toEqual([0, 3]);
    const kept = history.filter((_, at) => !drops.includes(at));
    expect(findViolations(kept, history)).toEqual([]);
  });

  it('chooses the same as dropping one by one with a new sum each time', () => {
    fc.assert(
      fc.property(CASES, ({ input, targetTokens }) => {
        expect(chooseDrops(input, targetTokens)).toEqual(dropNaively(input, targetTokens));
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('leaves a valid history', () => {
    fc.assert(
      fc.property(CASES, ({ input, targetTokens }) => {
        const dropped = new Set(chooseDrops(input, targetTokens));
        const kept = input.history.filter((_, at) => !dropped.has(at));
        expect(findViolations(kept, input.history)).toEqual([]);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

describe('chooseOldest', () => {
  const oldest = (history: readonly IContent[], targetTokens: number): string => {
    const { outline, tokens } = truncatable(history);
    return chooseOldest(outline, tokens, targetTokens).join(' ');
  };

  it('keeps the question before a blank message, which asks nothing', () => {
    const [answered, again] = [historyOf('a a'), historyOf('a a a')];
    const history = [humanText('Build it.'), ...answered, humanText(' \n'), ...again];
    const { outline, tokens } = truncatable(history);
    const left = (dropped: readonly number[]): readonly IContent[] =>
      history.filter((_, at) => !dropped.includes(at));
    expect(left(chooseOldest(outline, tokens, 0))[0]).toBe(history[0]);
    expect(left(chooseDrops({ outline, tokens, tailStart: 6 }, 0))[0]).toBe(history[0]);
    const fit = fitToWindow({ outline, tokens, summarizedTokens: tokens }, 0);
    expect(left(fit.dropped)).toEqual([history[0]]);
  });

  it('begins what is left with a human entry', () => {
    expect(oldest(historyOf('h a h a'), 35)).toBe('0 1');
    expect(oldest(historyOf('h h a:r1 t:r1 a h a'), 55)).toBe('0 1 2 3 4');
    expect(oldest(historyOf('h a:r1 h t:r1 h a h'), 65)).toBe('0 1 3');
  });

  it('drops nothing if everything fits, whatever the history starts with', () => {
    expect(oldest(historyOf('a h a'), 30)).toBe('');
  });

  it('drops no more than necessary without a human entry', () => {
    expect(oldest(historyOf('a a:r1 t:r1 a'), 35)).toBe('0');
  });

  it('keeps the newest summary if there is no question', () => {
    const history = historyOf('h:1 a h:2 a a').map((entry): IContent =>
      entry.speaker === 'human' ? { ...entry, metadata: { isSummary: true } } : entry,
    );
    expect(oldest(history, 0)).toBe('0 1 3');
  });
});
