// What is shortened and what leaves, in which order, when a history has to fit the context window.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { IContent } from '../../../src/shared/content.js';
import { outlineHistory } from '../../../src/shared/summarize/history-outline.js';
import { summarizeEntry } from '../../../src/shared/summarize/tool-summary.js';
import { fitToWindow } from '../../../src/shared/summarize/window-fit.js';
import type { Fittable, WindowFit } from '../../../src/shared/summarize/window-fit.js';
import { findViolations } from '../../../src/shared/validity.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { pairNaively } from '../../support/naive-pairs.js';
import { historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';
import { arbitraryRatio } from '../../support/arbitrary-ratio.js';

const total = (tokens: readonly number[]): number => tokens.reduce((sum, count) => sum + count, 0);

/** What is chosen from, and what the naive choice reads instead of the outline. */
interface Case extends Fittable {
  readonly history: readonly IContent[];
  readonly tokens: readonly number[];
  readonly summarizedTokens: readonly number[];
}

/** Entries weigh 10 tokens each unless told otherwise, and those with summarized results 4. */
function fittable(history: readonly IContent[], weights: readonly number[] = []): Case {
  const { outline, callOf } = outlineHistory(history);
  const tokens = history.map((_, at) => weights[at] ?? 10);
  const summarizedTokens = history.map((entry, at) =>
    summarizeEntry(entry, at, callOf) === entry ? (tokens[at] ?? 0) : 4,
  );
  return { history, outline, tokens, summarizedTokens };
}

/** The history as it is after a fit: the choice, carried out. */
function carriedOut(history: readonly IContent[], fit: WindowFit): readonly IContent[] {
  const { callOf } = outlineHistory(history);
  return history.flatMap((entry, index) => {
    if (fit.dropped.includes(index)) return [];
    return [fit.summarized.includes(index) ? summarizeEntry(entry, index, callOf) : entry];
  });
}

/** `~1 ~2 -3` summarizes entries 1 and 2 and drops entry 3. */
function fitOf(input: Fittable, limitTokens: number): string {
  const { summarized, dropped } = fitToWindow(input, limitTokens);
  return [...summarized.map((at) => `~${at}`), ...dropped.map((at) => `-${at}`)].join(' ');
}

const isAsked = ({ speaker, metadata }: IContent): boolean =>
  speaker === 'human' && metadata?.isSummary !== true;

/** For each entry, those that a call and its responses tie to it, itself included; and the open calls. */
function naiveTies(history: readonly IContent[]): {
  readonly ties: readonly ReadonlySet<number>[];
  readonly open: readonly number[];
} {
  const ties = history.map((_, at) => new Set([at]));
  const pairs = pairNaively(history);
  for (const { callEntry, responseEntry, partialEntries } of pairs) {
    for (const entry of [...partialEntries, responseEntry]) {
      ties[callEntry]?.add(entry === -1 ? callEntry : entry);
      ties[entry]?.add(callEntry);
    }
  }
  const open = pairs.filter(({ responseEntry }) => responseEntry === -1);
  return { ties, open: open.map(({ callEntry }) => callEntry) };
}

/** Everything that can be reached from some entries over links. */
function closure(
  start: readonly number[],
  links: (entry: number) => Iterable<number>,
): ReadonlySet<number> {
  const reached = new Set(start);
  // A set that grows is walked to its new end.
  for (const entry of reached) for (const next of links(entry)) reached.add(next);
  return reached;
}

/** What was asked last, or told by a summary where nothing was. */
function naiveAsked(history: readonly IContent[]): number {
  const asked = history.findLastIndex(isAsked);
  return asked === -1 ? history.findLastIndex(({ speaker }) => speaker === 'human') : asked;
}

/** The entries that nothing may take away. */
function naivePinned(history: readonly IContent[]): ReadonlySet<number> {
  const { ties, open } = naiveTies(history);
  const asked = naiveAsked(history);
  return closure(asked === -1 ? open : [...open, asked], (entry) => ties[entry] ?? []);
}

/** Fits by the rules as they are written, looking at everything again after each step. */
function fitNaively({ history, tokens, summarizedTokens }: Case, limit: number): WindowFit {
  const now = [...tokens];
  const summarized = new Set<number>();
  const gone = new Set<number>();
  const left = (): number => total(now.filter((_, at) => !gone.has(at)));
  const newestAi = history.findLastIndex(({ speaker }) => speaker === 'ai');
  const isSent = (at: number): boolean => newestAi === -1 || at < newestAi;
  const withAllSent = now.map((count, at) =>
    isSent(at) ? Math.min(count, summarizedTokens[at] ?? 0) : count,
  );
  const mayGo = total(withAllSent) <= limit ? isSent : () => true;
  while (left() > limit) {
    const saved = now.map((count, at) => (mayGo(at) ? count - (summarizedTokens[at] ?? 0) : 0));
    const most = Math.max(0, ...saved);
    if (most === 0) break;
    const largest = saved.indexOf(most);
    summarized.add(largest);
    now[largest] = summarizedTokens[largest] ?? 0;
  }

  const { ties } = naiveTies(history);
  const pinned = naivePinned(history);
  const asked = naiveAsked(history);
  const turnOf = (entry: number): number =>
    entry >= asked ? -1 : history.slice(0, entry + 1).findLastIndex((e) => e.speaker === 'human');
  const inTurn = (entry: number): readonly number[] =>
    turnOf(entry) === -1
      ? []
      : [...history.keys()].filter((at) => turnOf(at) === turnOf(entry) && !pinned.has(at));
  const unitOf = (entry: number): ReadonlySet<number> =>
    closure([entry], (at) => [...(ties[at] ?? []), ...inTurn(at)]);
  const opening = history.findIndex(
    ({ speaker, metadata }) => speaker !== 'human' || metadata?.synthetic !== true,
  );
  const instructions = opening === -1 ? history.length : opening;
  const isOpening = (unit: ReadonlySet<number>): boolean => Math.min(...unit) < instructions;
  while (left() > limit) {
    const units = [...history.keys()]
      .filter((at) => !gone.has(at) && !pinned.has(at))
      .map((at) => unitOf(at));
    const next = units.find((unit) => !isOpening(unit)) ?? units[0];
    if (next === undefined) break;
    for (const entry of next) gone.add(entry);
  }
  const ascending = (entries: Iterable<number>): number[] => [...entries].sort((a, b) => a - b);
  return {
    summarized: ascending([...summarized].filter((at) => !gone.has(at))),
    dropped: ascending(gone),
    tokens: left(),
  };
}

const CASES = fc
  .record({
    history: arbitraryHistory({ maxEntries: 60 }),
    weights: fc.array(fc.nat(500), { minLength: 1, maxLength: 50, size: 'max' }),
    summaryTokens: fc.array(fc.nat(60), { minLength: 1, maxLength: 7 }),
    share: arbitraryRatio(0, 1.1),
    notes: fc.array(fc.nat(60), { maxLength: 3 }),
    instructions: fc.nat(2),
  })
  .map(({ history, weights, summaryTokens, share, notes, instructions }) => {
    const marked = history.map((entry, at): IContent =>
      entry.speaker === 'human' && notes.includes(at)
        ? { ...entry, metadata: { isSummary: true, synthetic: true } }
        : entry,
    );
    const opened = [
      ...historyOf('h:"be kind" h:"be brief"')
        .slice(0, instructions)
        .map((entry): IContent => ({ ...entry, metadata: { synthetic: true } })),
      ...marked,
    ];
    const { outline, callOf } = outlineHistory(opened);
    const tokens = opened.map((_, at) => weights[at % weights.length] ?? 0);
    const summarizedTokens = opened.map((entry, at) =>
      summarizeEntry(entry, at, callOf) === entry
        ? (tokens[at] ?? 0)
        : (summaryTokens[at % summaryTokens.length] ?? 0),
    );
    const input: Case = { history: opened, outline, tokens, summarizedTokens };
    return { input, limitTokens: Math.floor(total(tokens) * share) };
  });

const TWO_TURNS = 'h:1 a:r1 t:r1 a:r2 t:r2 h:2 a:r3 t:r3 a:r4 t:r4';

describe('fitToWindow', () => {
  it('does nothing when all fits exactly', () => {
    const input = fittable(historyOf(TWO_TURNS));
    expect(fitToWindow(input, 100)).toEqual({ summarized: [], dropped: [], tokens: 100 });
  });

  describe('first, tool results', () => {
    it.each([
      ['the largest alone when that is enough', 74, '~4'],
      ['then the next largest', 73, '~2 ~4'],
      ['one that no request has contained only if the others are not enough', 62, '~2 ~4 ~7'],
      ['it then by its size', 61, '~4 ~9'],
      ['of two as large the older one', 57, '~2 ~4 ~9'],
      ['all of them', 46, '~2 ~4 ~7 ~9'],
    ])('summarizes %s', (_, limitTokens, fit) => {
      const input = fittable(historyOf(TWO_TURNS), [5, 5, 10, 5, 30, 5, 5, 10, 5, 20]);
      expect(fitOf(input, limitTokens)).toBe(fit);
    });

    it('passes over those that a summary would not make smaller', () => {
      const input = fittable(historyOf('h a:r1 t:r1 a:r2 t:r2 h'), [10, 10, 4, 10, 30, 10]);
      expect(fitOf({ ...input, summarizedTokens: [10, 10, 9, 10, 4, 10] }, 48)).toBe('~4');
      expect(fitOf({ ...input, summarizedTokens: [10, 10, 9, 10, 4, 10] }, 47)).toBe(
        '-0 -1 -2 -3 -4',
      );
    });
  });

  describe('then, whole turns', () => {
    it.each([
      ['the oldest one with all that belongs to it', 46, '~7 ~9 -0 -1 -2 -3 -4'],
      ['no part of the present turn while that is enough', 38, '~7 ~9 -0 -1 -2 -3 -4'],
      ['then the oldest calls of the present turn', 24, '~9 -0 -1 -2 -3 -4 -6 -7'],
      ['all but what was asked last', 0, '-0 -1 -2 -3 -4 -6 -7 -8 -9'],
    ])('drops %s', (_, limitTokens, fit) => {
      expect(fitOf(fittable(historyOf(TWO_TURNS)), limitTokens)).toBe(fit);
    });

    it('drops the oldest of several', () => {
      const input = fittable(historyOf('h:1 a h:2 a h:3 a h:4 a'));
      expect(fitOf(input, 60)).toBe('-0 -1');
      expect(fitOf(input, 59)).toBe('-0 -1 -2 -3');
    });

    it('takes turns that a call spans as one', () => {
      expect(fitOf(fittable(historyOf('h:1 a:r1 h:2 t:r1 a h:3')), 40)).toBe('-0 -1 -2 -3 -4');
    });

    it('drops what stands before the first human entry piece by piece', () => {
      expect(fitOf(fittable(historyOf('a:r1 t:r1 a h:1 a h:2')), 50)).toBe('-0 -1');
      expect(fitOf(fittable(historyOf('a:one a:two h:1 a h:2')), 40)).toBe('-0');
    });

    it('drops a summary behind what was asked last alone, as it begins no turn', () => {
      const history = historyOf('h:asked h:summary a:r1 t:r1 a').map((entry, at): IContent =>
        at === 1 ? { ...entry, metadata: { isSummary: true } } : entry,
      );
      expect(fitOf(fittable(history), 34)).toBe('~3 -1');
      expect(fitOf(fittable(history), 33)).toBe('-1 -2 -3');
    });

    it('drops the instructions that a history opens with last', () => {
      const history = historyOf('h:rules h:1 a h:2 a').map((entry, at): IContent =>
        at === 0 ? { ...entry, metadata: { synthetic: true } } : entry,
      );
      expect(fitOf(fittable(history), 20)).toBe('-1 -2 -4');
      expect(fitOf(fittable(history), 10)).toBe('-0 -1 -2 -4');
    });
  });

  describe('what stays', () => {
    it('is what was asked last, also when a summary came after it', () => {
      const history = historyOf('h:1 a h:asked a h:summary a').map((entry, at): IContent =>
        at === 4 ? { ...entry, metadata: { isSummary: true } } : entry,
      );
      expect(fitOf(fittable(history), 0)).toBe('-0 -1 -3 -4 -5');
    });

    it('is the newest summary where nothing was asked', () => {
      const history = historyOf('h:1 a h:2 a').map((entry): IContent =>
        entry.speaker === 'human' ? { ...entry, metadata: { isSummary: true } } : entry,
      );
      expect(fitOf(fittable(history), 0)).toBe('-0 -1 -3');
    });

    it.each([
      ['an open call, while the rest of its turn goes', 'h:1 a:r1 t:r1 a:r2', '-1 -2'],
      ['an open call of an older turn', 'h:1 a:r1 a h:2 a', '-0 -2 -4'],
      ['what is answered beside an open call', 'h a:r1,r2 t:r1 a:r3 t:r3', '~2 -3 -4'],
      ['what an open call has answered so far', 'h a:r1 t:r1 a:r2 t:r2?', '-1 -2'],
    ])('is %s', (_, notation, fit) => {
      expect(fitOf(fittable(historyOf(notation)), 0)).toBe(fit);
    });

    it('may be over the limit', () => {
      const input = fittable(historyOf('h:1 a h:2 a:r1'), [10, 10, 300, 200]);
      expect(fitToWindow(input, 100)).toEqual({ summarized: [], dropped: [0, 1], tokens: 500 });
      expect(fitToWindow(fittable([]), 0)).toEqual({ summarized: [], dropped: [], tokens: 0 });
      expect(fitToWindow(input, -1).dropped).toEqual([0, 1]);
    });
  });

  it('chooses what going by the rules step by step chooses', () => {
    fc.assert(
      fc.property(CASES, ({ input, limitTokens }) => {
        expect(fitToWindow(input, limitTokens)).toEqual(fitNaively(input, limitTokens));
      }),
      { numRuns: runs(500) },
    );
  });

  it('ends under the limit, or with nothing left that may go', () => {
    fc.assert(
      fc.property(CASES, ({ input, limitTokens }) => {
        const { summarized, dropped, tokens } = fitToWindow(input, limitTokens);
        const left = input.tokens.map((count, at) =>
          summarized.includes(at) ? (input.summarizedTokens[at] ?? 0) : count,
        );
        expect(tokens).toBe(total(left.filter((_, at) => !dropped.includes(at))));
        if (tokens <= limitTokens) return;
        const pinned = naivePinned(input.history);
        const kept = [...input.history.keys()].filter((at) => !dropped.includes(at));
        expect(kept.filter((at) => !pinned.has(at))).toEqual([]);
        for (const at of kept) {
          expect(left[at]).toBeLessThanOrEqual(input.summarizedTokens[at] ?? 0);
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('leaves a valid history', () => {
    fc.assert(
      fc.property(CASES, ({ input, limitTokens }) => {
        const kept = carriedOut(input.history, fitToWindow(input, limitTokens));
        expect(findViolations(kept, input.history)).toEqual([]);
      }),
      { numRuns: runs(1_000) },
    );
  });
});
