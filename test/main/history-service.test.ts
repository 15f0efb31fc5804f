// The history of a session: entries are added, edits apply whole or not at all, totals are always right.

import { setImmediate as nextImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';

import type { HistoryState } from '../../src/main/history-change.js';
import { HistoryService } from '../../src/main/history-service.js';
import type { CountEntries } from '../../src/main/tokens/token-ledger.js';
import { humanText } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { applyDensityResult, NO_EDITS } from '../../src/shared/density.js';
import type { DensityResult } from '../../src/shared/density.js';
import { optimize } from '../../src/shared/density/plan/optimize.js';
import { fixedEntryTokens } from '../../src/shared/tokens/content-text.js';
import { estimateEntryTextTokens, estimateEntryTokens } from '../../src/shared/tokens/estimate.js';
import { arbitraryDensityConfig, arbitraryHistory } from '../support/arbitrary-history.js';
import { describeHistory, historyOf } from '../support/notation.js';
import { outcomeOf } from '../support/session-bench.js';
import { runs } from '../support/scale.js';

const METADATA = { readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 };

function edit(removals: readonly number[], replacements: [number, IContent][] = []): DensityResult {
  return { removals, replacements: new Map(replacements), metadata: METADATA };
}

const countTens: CountEntries = (contents) => Promise.resolve(contents.map(() => 10));

function open(notation: string, countEntries: CountEntries = countTens): HistoryService {
  const history = new HistoryService({ countEntries });
  history.addAll(historyOf(notation));
  return history;
}

function entriesOf(history: HistoryService): string {
  return describeHistory(history.getRawHistory());
}

const summed = (history: HistoryService, count: (entry: IContent) => number): number =>
  history.getRawHistory().reduce((sum, entry) => sum + count(entry), 0);

describe('HistoryService', () => {
  it('counts nothing once it is closed, unless a caller waits', async () => {
    const count = vi.fn(countTens);
    const history = open('h a', count);
    history.close();
    await nextImmediate();
    expect(count).not.toHaveBeenCalled();
    await history.waitForTokenUpdates();
    expect(history.getTotalTokens()).toBe(20);
  });

  it('does not tell watchers the tokens of an entry that it has counted by parts', async () => {
    const states: HistoryState[] = [];
    const history = new HistoryService({
      countEntries: (entries) => Promise.resolve(entries.map(() => 10)),
    });
    history.watch((_, state) => states.push(state));
    history.addAll([humanText('one'), humanText('two')]);
    const [part, known] = [humanText('by parts'), humanText('known')];
    history.weigh(part, 5, humanText('parts'));
    history.weigh(known, 6);
    const replacements = new Map([part, known].entries());
    await history.applyDensityResult({ ...NO_EDITS, replacements });
    expect([part, known].map((entry) => history.countedTokens(entry))).toEqual([12, 6]);
    const tokens = [part, known].map((entry) => states.at(-1)?.countedTokens(entry));
    expect(tokens).toEqual([undefined, 6]);
  });

  it('appends, and returns copies of the list with the same entries', () => {
    const history = open('h a');
    const added = humanText('third');
    const raw = history.getRawHistory();
    history.add(added);
    // The raw history is a growing view, not a copy.
    expect(raw[2]).toBe(added);
    const all = history.getAll();
    expect(all[2]).toBe(added);
    all.pop();
    expect(history.length).toBe(3);
    expect(history.getRawHistory()).toHaveLength(3);
    expect(history.additions).toBe(3);
  });

  it('keeps its revision when it grows, and changes it with every rewrite', async () => {
    const history = open('h:1 h:2 h:3');
    const { revision } = history;
    history.add(humanText('4'));
    expect(history.base).toEqual({ revision, length: 4 });
    await history.applyDensityResult(edit([0]));
    expect(history.revision).not.toBe(revision);
    const applied = history.revision;
    history.clear();
    expect(history.base).toEqual({ revision: applied + 1, length: 0 });
    expect(history.replaceAll(historyOf('h'), history.base)).toBe(true);
    expect(history.revision).toBe(applied + 2);
  });

  it('counts only external entries as additions', async () => {
    const history = open('h:1 h:2');
    await history.applyDensityResult(edit([0], [[1, humanText('new')]]));
    history.startCompression();
    history.add(humanText('3'));
    history.replaceAll([], history.base);
    history.endCompression();
    history.clear();
    expect(history.additions).toBe(3);
  });

  it('refuses what is not a list', () => {
    expect(() => {
      new HistoryService().addAll('entries' as unknown as IContent[]);
    }).toThrow('Expected an array of entries, got string.');
  });

  it('names a bad entry by its position in the whole history', () => {
    expect(() => {
      new HistoryService().addAll([{} as IContent], undefined, 300);
    }).toThrow('entry 300');
  });

  it('keeps the given limits, and uses defaults for the others', () => {
    const history = new HistoryService({ limits: { maxCharacters: 40 } });
    expect(() => {
      history.add(humanText('x'.repeat(41)));
    }).toThrow('at most 40 characters');
    history.add(humanText('x'));
  });

  describe('getCurated', () => {
    it.each([
      ['h a:_ a: a:* a:r1 t:r1', 'h a:* a:r1 t:r1'],
      ['h:_ t: h', 'h:_ t h'],
      ['a:` ` a:`x` a:%', 'a:`x` a:%'],
    ])('leaves ai entries without content out of %s', (notation, curated) => {
      expect(describeHistory(open(notation).getCurated())).toBe(curated);
    });
  });

  describe('applyDensityResult', () => {
    it('is done before it returns its promise', () => {
      const history = open('h:1 h:2 h:3');
      void history.applyDensityResult(edit([0], [[2, humanText('new')]]));
      expect(entriesOf(history)).toBe('h:2 h:new');
    });

    it('resolves once the new entries are counted', async () => {
      const history = open('h:1 h:2 h:3');
      await history.waitForTokenUpdates();
      await history.applyDensityResult(edit([0], [[2, humanText('new')]]));
      expect(history.getTotalTokens()).toBe(20);
    });

    it.each([
      ['out of bounds', edit([3]), undefined, 'DENSITY_OUT_OF_BOUNDS'],
      ['twice', edit([1, 1]), undefined, 'DENSITY_DUPLICATE_INDEX'],
      ['in conflict', edit([1], [[1, humanText('x')]]), undefined, 'DENSITY_CONFLICT'],
      ['of another revision', edit([1]), { revision: 9, length: 3 }, 'DENSITY_STALE'],
      ['beyond its own base', edit([2]), { revision: 0, length: 2 }, 'DENSITY_OUT_OF_BOUNDS'],
    ])('refuses a result that is %s, and changes nothing', async (_, result, base, code) => {
      const history = open('h:1 h:2 h:3');
      await history.waitForTokenUpdates();
      const updates = vi.fn();
      history.on('tokensUpdated', updates);
      expect(await outcomeOf(history.applyDensityResult(result, base))).toBe(code);
      expect(entriesOf(history)).toBe('h:1 h:2 h:3');
      expect(history.base).toEqual({ revision: 0, length: 3 });
      expect(updates).not.toHaveBeenCalled();
    });

    it('refuses to edit during a compression', async () => {
      const history = open('h:1 h:2');
      history.startCompression();
      expect(await outcomeOf(history.applyDensityResult(edit([0])))).toBe(
        'COMPRESSION_IN_PROGRESS',
      );
      expect(entriesOf(history)).toBe('h:1 h:2');
    });

    it('accepts a result when the history has grown since', async () => {
      const history = open('h:1 h:2');
      const { base } = history;
      history.add(humanText('3'));
      await history.applyDensityResult(edit([0]), base);
      expect(entriesOf(history)).toBe('h:2 h:3');
    });
  });

  describe('a compression', () => {
    it('queues what is added until it ends', () => {
      const history = open('h:1');
      history.startCompression();
      expect(history.isCompressing).toBe(true);
      history.addAll(historyOf('h:2 h:3'));
      history.add(humanText('4'));
      expect(entriesOf(history)).toBe('h:1');
      expect(history.replaceAll(historyOf('h:0'), history.base)).toBe(true);
      history.endCompression();
      expect(history.isCompressing).toBe(false);
      expect(entriesOf(history)).toBe('h:0 h:2 h:3 h:4');
    });

    it('drops the queue when the history is cleared, and goes on queueing', () => {
      const history = open('h:1');
      history.startCompression();
      history.add(humanText('2'));
      history.clear();
      history.add(humanText('3'));
      expect(history.length).toBe(0);
      history.endCompression();
      expect(entriesOf(history)).toBe('h:3');
    });

    it('cannot begin twice, and may end without having begun', () => {
      const history = open('h:1');
      history.endCompression();
      history.startCompression();
      expect(() => {
        history.startCompression();
      }).toThrow(expect.objectContaining({ code: 'COMPRESSION_IN_PROGRESS' }));
    });

    it('keeps entries that were added between its base and its result', () => {
      const history = open('h:1');
      const { base } = history;
      history.add(humanText('2'));
      expect(history.replaceAll([], base)).toBe(false);
      expect(entriesOf(history)).toBe('h:1 h:2');
    });
  });

  describe('tokens', () => {
    it('estimates until counts arrive, and reports when they do', async () => {
      const history = open('h:one h:two');
      const totals: number[] = [];
      history.on('tokensUpdated', ({ totalTokens }) => totals.push(totalTokens));
      // The sum over all texts, rounded once.
      const texts = Math.ceil(summed(history, estimateEntryTextTokens));
      expect(history.getTotalTokens()).toBe(texts + summed(history, fixedEntryTokens));
      await history.waitForTokenUpdates();
      expect(totals).toEqual([20]);
      history.clear();
      expect(totals).toEqual([20, 0]);
    });

    it('keeps estimates without a counter', async () => {
      const history = new HistoryService();
      history.addAll(historyOf('h:one h:two'));
      await history.waitForTokenUpdates();
      expect(history.getTotalTokens()).toBe(summed(history, estimateEntryTokens));
    });

    it('counts an entry once, also when it is asked for it, or for a recount', async () => {
      const count = vi.fn(countTens);
      const history = open('h:one h:two', count);
      await history.recalculateTotalTokens();
      const fresh = humanText('fresh');
      expect(await history.estimateTokensForContents([...history.getAll(), fresh])).toBe(30);
      expect(await history.countEach(history.getAll())).toEqual([10, 10]);
      await history.recalculateTotalTokens();
      expect(count.mock.calls.map(([contents]) => contents.length)).toEqual([2, 1]);
      expect(history.getTotalTokens()).toBe(20);
    });

    it('rejects when counting fails, keeps estimates, and counts again', async () => {
      const count = vi.fn(countTens).mockRejectedValueOnce(new Error('no encoding'));
      const history = open('h:one', count);
      expect(await outcomeOf(history.waitForTokenUpdates())).toBe('TOKEN_COUNT_FAILED');
      expect(history.getTotalTokens()).toBe(summed(history, estimateEntryTokens));
      await history.waitForTokenUpdates();
      expect(history.getTotalTokens()).toBe(10);
    });

    it('equal a full recount after any sequence of passes, additions and rewrites', async () => {
      const weigh = (entry: IContent): number => JSON.stringify(entry.blocks).length;
      const steps = fc.array(fc.constantFrom('add', 'pass', 'turn', 'clear', 'compress', 'twice'), {
        maxLength: 12,
        size: 'max',
      });
      await fc.assert(
        fc.asyncProperty(arbitraryHistory(), arbitraryDensityConfig(), steps, async (...made) => {
          const [source, config, sequence] = made;
          const history = new HistoryService({
            countEntries: async (contents) => {
              await nextImmediate();
              return contents.map(weigh);
            },
          });
          const expected: IContent[] = [];
          let next = 0;
          const take = (): IContent[] => {
            const taken = source.slice(next, next + 7);
            next += 7;
            return taken;
          };
          for (const step of sequence) {
            if (step === 'add') {
              const taken = take();
              history.addAll(taken);
              expected.push(...taken);
            } else if (step === 'pass') {
              const result = optimize(history.getRawHistory(), config);
              void history.applyDensityResult(result);
              applyDensityResult(expected, result);
            } else if (step === 'clear') {
              history.clear();
              expected.length = 0;
            } else if (step === 'compress') {
              const { base } = history;
              history.startCompression();
              const taken = take();
              history.addAll(taken);
              const half = expected.slice(expected.length >> 1);
              history.replaceAll(half, base);
              history.endCompression();
              expected.splice(0, expected.length, ...half, ...taken);
            } else if (step === 'twice') {
              history.addAll(expected.slice(-2));
              expected.push(...expected.slice(-2));
            } else {
              await nextImmediate();
            }
          }
          await history.waitForTokenUpdates();
          expect(history.getAll()).toEqual(expected);
          const total = summed(history, weigh);
          expect(history.getTotalTokens()).toBe(total);
          await history.recalculateTotalTokens();
          expect(history.getTotalTokens()).toBe(total);
        }),
        { numRuns: runs(200) },
      );
    });
  });
});
