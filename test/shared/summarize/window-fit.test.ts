// What is shortened and what is removed, in which order, to fit a history to the context window.

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

/** The input, and what the naive choice reads instead of the outline. */
interface Case extends Fittable {
  readonly history: readonly IContent[];
  readonly tokens: readonly number[];
  readonly summarizedTokens: readonly number[];
}

/** Entries weigh 10 tokens by default, and 4 with summarized results. */
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

/** For each entry, all entries that its calls and responses tie together, including itself; and the open calls. */
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
  // The set grows during the loop.
  for (const entry of reached) for (const next of links(entry)) reached.add(next);
  return reached;
}

/** The last question, or the newest summary if there is none. */
function naiveAsked(history: readonly IContent[]): number {
  const asked = history.findLastIndex(isAsked);
  return asked === -1 ? history.findLastIndex(({ speaker }) => speaker === 'human') : asked;
}

/** The entries that may not be removed. */
function naivePinned(history: readonly IContent[]): ReadonlySet<number> {
  const { ties, open } = naiveTies(history);
  const asked = naiveAsked(history);
  return closure(asked === -1 ? open : [...open, asked], (entry) => ties[entry] ?? []);
}

/** Fits by the written rules, with everything computed again after each step. */
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
  it('does nothing when everything fits exactly', () => {
    const input = fittable(historyOf(TWO_TURNS));
    expect(fitToWindow(input, 100)).toEqual({ summarized: [], dropped: [], tokens: 100 });
  });

  describe('first, tool results', () => {
    it.each([
      ['the largest alone when that is enough', 74, '~4'],
      ['then the next largest', 73, '~2 ~4'],
      ['an unsent one only if the others are not enough', 62, '~2 ~4 ~7'],
      ['unsent ones by their size', 61, '~4 ~9'],
      ['of two equally large ones the older', 57, '~2 ~4 ~9'],
      ['all of them', 46, '~2 ~4 ~7 ~9'],
    ])('summarizes %s', (_, limitTokens, fit) => {
      const input = fittable(historyOf(TWO_TURNS), [5, 5, 10, 5, 30, 5, 5, 10, 5, 20]);
      expect(fitOf(input, limitTokens)).toBe(fit);
    });

    it('skips results that a summary would not make smaller', () => {
      const input = fittable(historyOf('h a:r1 t:r1 a:r2 t:r2 h'), [10, 10, 4, 10, 30, 10]);
      expect(fitOf({ ...input, summarizedTokens: [10, 10, 9, 10, 4, 10] }, 48)).toBe('~4');
      expect(fitOf({ ...input, summarizedTokens: [10, 10, 9, 10, 4, 10] }, 47)).toBe(
        '-0 -1 -2 -3 -4',
      );
    });
  });

  describe('then, whole turns', () => {
    it.each([
      ['the oldest one with everything that belongs to it', 46, '~7 ~9 -0 -1 -2 -3 -4'],
      ['no part of the present turn while that is enough', 38, '~7 ~9 -0 -1 -2 -3 -4'],
      ['then the oldest calls of the present turn', 24, '~9 -0 -1 -2 -3 -4 -6 -7'],
      ['everything but the last question', 0, '-0 -1 -2 -3 -4 -6 -7 -8 -9'],
    ])('drops %s', (_, limitTokens, fit) => {
      expect(fitOf(fittable(historyOf(TWO_TURNS)), limitTokens)).toBe(fit);
    });

    it('drops the oldest of several', () => {
      const input = fittable(historyOf('h:1 a h:2 a h:3 a h:4 a'));
      expect(fitOf(input, 60)).toBe('-0 -1');
      expect(fitOf(input, 59)).toBe('-0 -1 -2 -3');
    });

    it('treats turns that a call spans as one', () => {
      expect(fitOf(fittable(historyOf('h:1 a:r1 h:2 t:r1 a h:3')), 40)).toBe('-0 -1 -2 -3 -4');
    });

    it('drops entries before the first human entry piece by piece', () => {
      expect(fitOf(fittable(historyOf('a:r1 t:r1 a h:1 a h:2')), 50)).toBe('-0 -1');
      expect(fitOf(fittable(historyOf('a:one a:two h:1 a h:2')), 40)).toBe('-0');
    });

    it('drops a summary behind the last question on its own, because it starts no turn', () => {
      const history = historyOf('h:asked h:summary a:r1 t:r1 a').map((entry, at): IContent =>
        at === 1 ? { ...entry, metadata: { isSummary: true } } : entry,
      );
      expect(fitOf(fittable(history), 34)).toBe('~3 -1');
      expect(fitOf(fittable(history), 33)).toBe('-1 -2 -3');
    });

    it('drops the instructions at the start of a history last', () => {
      const history = historyOf('h:rules h:1 a h:2 a').map((entry, at): IContent =>
        at === 0 ? { ...entry, metadata: { synthetic: true } } : entry,
      );
      expect(fitOf(fittable(history), 20)).toBe('-1 -2 -4');
      expect(fitOf(fittable(history), 10)).toBe('-0 -1 -2 -4');
    });
  });

  describe('what stays', () => {
    it('is the last question, even if a summary came after it', () => {
      const history = historyOf('h:1 a h:asked a h:summary a').map((entry, at): IContent =>
        at === 4 ? { ...entry, metadata: { isSummary: true } } : entry,
      );
      expect(fitOf(fittable(history), 0)).toBe('-0 -1 -3 -4 -5');
    });

    it('is the newest summary if there is no question', () => {
      const history = historyOf('h:1 a h:2 a').map((entry): IContent =>
        entry.speaker === 'human' ? { ...entry, metadata: { isSummary: true } } : entry,
      );
      expect(fitOf(fittable(history), 0)).toBe('-0 -1 -3');
    });

    it.each([
      ['an open call, while the rest of its turn is removed', 'h:1 a:r1 t:r1 a:r2', '-1 -2'],
      ['an open call of an older turn', 'h:1 a:r1 a h:2 a', '-0 -2 -4'],
      ['the result beside an open call', 'h a:r1,r2 t:r1 a:r3 t:r3', '~2 -3 -4'],
      ['the partial response of an open call', 'h a:r1 t:r1 a:r2 t:r2?', '-1 -2'],
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

  it('chooses the same as applying the rules step by step', () => {
    fc.assert(
      fc.property(CASES, ({ input, limitTokens }) => {
        expect(fitToWindow(input, limitTokens)).toEqual(fitNaively(input, limitTokens));
      }),
      { numRuns: runs(500) },
    );
  });

  it('ends below the limit, or with nothing left that may be removed', () => {
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
