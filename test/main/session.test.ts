// The preflight: its steps, their order, and when it compresses.

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { ContextGauge } from '../../src/main/preflight/context-gauge.js';
import { InlineOffload } from '../../src/main/offload/inline.js';
import { humanText } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { ContextWindowExceededError } from '../../src/shared/errors.js';
import { describeHistory, historyOf } from '../support/notation.js';
import {
  entries,
  entriesOf,
  keepLast,
  openNoted,
  openSession,
  strategyOf,
} from '../support/session-bench.js';

/** Two reads of a file that is then written: the reads are stale. */
const STALE = 'h a:r1 t:r1 a:w2 t:w2 h';

describe('Session', () => {
  describe('ensureCompressionBeforeSend', () => {
    it('settles, optimizes, applies, asks for the threshold, compresses: in this order', async () => {
      const steps: string[] = [];
      const offload = new InlineOffload();
      const strategy = strategyOf(async ({ history }) => {
        steps.push('compress');
        return history.slice(-1);
      });
      const session = openNoted(STALE, { offload, strategy, contextLimit: 40 });
      const { history } = session;
      const note = (target: object, method: string): void => {
        const original: unknown = Reflect.get(target, method);
        vi.spyOn(target as Record<string, () => unknown>, method).mockImplementation(function (
          this: unknown,
          ...args: unknown[]
        ) {
          steps.push(method);
          return Reflect.apply(original as () => unknown, this, args);
        });
      };
      note(history, 'waitForTokenUpdates');
      note(offload, 'optimize');
      note(history, 'applyDensityResult');
      onTestFinished(() => void vi.restoreAllMocks());
      note(ContextGauge.prototype, 'shouldCompress');
      note(history, 'startCompression');
      note(history, 'replaceAll');
      note(history, 'endCompression');
      await session.ensureCompressionBeforeSend('p1');
      expect(steps).toEqual([
        'waitForTokenUpdates',
        'optimize',
        'applyDensityResult',
        'waitForTokenUpdates',
        'shouldCompress',
        'startCompression',
        'compress',
        'replaceAll',
        'endCompression',
        'waitForTokenUpdates',
        'shouldCompress',
      ]);
    });

    it('reports what it did', async () => {
      const session = openNoted(STALE, { strategy: keepLast(1), contextLimit: 40 });
      const result = await session.ensureCompressionBeforeSend('p1');
      expect(result).toMatchObject({
        pruned: {
          metadata: { readWritePairsPruned: 1 },
          changes: [
            { index: 1, after: null },
            { index: 2, after: null },
          ],
          tokensBefore: 60,
          tokensAfter: 40,
        },
        compressed: {
          strategy: 'high-density',
          outcome: 'applied',
          tokensBefore: 40,
          tokensAfter: 10,
          entriesBefore: 4,
          entriesAfter: 1,
        },
        totalTokens: 10,
      });
      expect(result.pruned?.changes[0]?.before).toEqual(historyOf(STALE)[1]);
      expect(await session.ensureCompressionBeforeSend('p2')).toEqual({
        pruned: null,
        compressed: null,
        fitted: null,
        totalTokens: 10,
        tokenSource: 'counted',
      });
    });

    it('decides on the threshold after pruning', async () => {
      const compress = vi.fn(async () => []);
      const strategy = strategyOf(compress);
      // 60 tokens before pruning, 40 after it; the threshold is at 50.
      const settings = { 'compression.threshold': 0.5 };
      const session = openNoted(STALE, { strategy, settings, contextLimit: 100 });
      await session.ensureCompressionBeforeSend('p1');
      expect(compress).not.toHaveBeenCalled();
      expect(entriesOf(session)).toBe('h a:w2 t:w2 h');
    });

    it.each([-1, NaN])('refuses %s pending tokens', (pendingTokens) => {
      expect(() => void openSession().ensureCompressionBeforeSend('p1', pendingTokens)).toThrow(
        RangeError,
      );
    });

    it('logs the prompt id, and nothing of the history', async () => {
      const debug = vi.fn();
      const logger = { debug, warn: debug, error: debug };
      const session = openNoted('h:secret', { logger });
      await session.ensureCompressionBeforeSend('p1', 3, 'tests');
      const details = { promptId: 'p1', source: 'tests', pendingTokens: 3 };
      expect(debug).toHaveBeenCalledWith('a preflight begins', details);
      expect(JSON.stringify(debug.mock.calls)).not.toContain('secret');
    });
  });

  describe('shouldCompress', () => {
    it.each([
      [849, 0, false],
      [850, 0, true],
      [800, 49, false],
      [800, 50, true],
    ])('with %i tokens and %i pending is %s', async (tokens, pending, isDue) => {
      const countEntries = (contents: readonly IContent[]): Promise<number[]> =>
        Promise.resolve(contents.map(() => tokens));
      const session = openSession({ countEntries, entries: entries(1) });
      await session.history.waitForTokenUpdates();
      expect(session.shouldCompress(pending)).toBe(isDue);
    });
  });

  describe('performCompression', () => {
    it('passes the strategy the curated history and what it needs to count', async () => {
      const strategy = strategyOf(async (context) => {
        expect(describeHistory(context.history)).toBe('h:one h:two');
        expect(context.promptId).toBe('p1');
        expect(context.currentTokenCount).toBe(30);
        expect(await context.estimateTokens(context.history)).toBe(20);
        expect(await context.countEach?.(context.history)).toEqual([10, 10]);
        expect(context.runtimeContext.ephemerals.contextLimit()).toBe(1_000);
        return context.history.slice(1);
      });
      const session = openNoted('h:one a:_ h:two', { strategy });
      await session.history.waitForTokenUpdates();
      expect(await session.performCompression('p1')).toMatchObject({ outcome: 'applied' });
      expect(entriesOf(session)).toBe('h:two');
    });

    it.each([
      ['as large', (history: readonly IContent[]) => [...history]],
      ['larger', (history: readonly IContent[]) => [...history, humanText('more')]],
    ])('rejects a result that is %s', async (_, compress) => {
      const strategy = strategyOf(async ({ history }) => compress(history));
      const session = openSession({ strategy, entries: entries(3) });
      await session.history.waitForTokenUpdates();
      const { revision } = session.history;
      expect(await session.performCompression('p1')).toMatchObject({
        outcome: 'rejected',
        tokensBefore: 30,
        tokensAfter: 30,
      });
      expect(session.history.getAll()).toEqual(entries(3));
      expect(session.history.revision).toBe(revision);
    });

    it('keeps the history when the strategy throws, and lets the next one try', async () => {
      const compress = vi.fn(async () => entries(1)).mockRejectedValueOnce(new Error('no summary'));
      const session = openSession({ strategy: strategyOf(compress), entries: entries(3) });
      await session.history.waitForTokenUpdates();
      await expect(session.performCompression('p1')).rejects.toThrow('no summary');
      expect(session.history.getAll()).toEqual(entries(3));
      expect(session.history.isCompressing).toBe(false);
      expect(await session.performCompression('p2')).toMatchObject({ outcome: 'applied' });
    });

    it('counts each entry that the strategy makes once', async () => {
      const asked: IContent[] = [];
      const countEntries = (contents: readonly IContent[]): Promise<number[]> => {
        asked.push(...contents);
        return Promise.resolve(contents.map(() => 10));
      };
      const summary = humanText('summary');
      const strategy = strategyOf(async ({ history, countEach }) => {
        await countEach?.([summary, ...history]);
        return [summary, ...history.slice(-1)];
      });
      const before = entries(5);
      const session = openSession({ strategy, countEntries, entries: before });
      await session.history.waitForTokenUpdates();
      await session.performCompression('p1');
      expect(session.history.getTotalTokens()).toBe(20);
      expect(asked).toEqual([...before, summary]);
    });
  });

  describe('enforceContextWindow', () => {
    it('does nothing when everything fits exactly', async () => {
      const compress = vi.fn(async () => []);
      const strategy = strategyOf(compress);
      const session = openSession({ strategy, entries: entries(4), contextLimit: 50 });
      await session.history.waitForTokenUpdates();
      await session.enforceContextWindow('p1', 10);
      expect(compress).not.toHaveBeenCalled();
    });

    it('prunes first, and compresses only when that is not enough', async () => {
      const compress = vi.fn(async () => []);
      const session = openNoted(STALE, { strategy: strategyOf(compress), contextLimit: 50 });
      await session.history.waitForTokenUpdates();
      await session.enforceContextWindow('p1');
      expect(entriesOf(session)).toBe('h a:w2 t:w2 h');
      expect(compress).not.toHaveBeenCalled();
      await session.enforceContextWindow('p1', 20);
      expect(compress).toHaveBeenCalledOnce();
    });

    it('drops the oldest entries when compressing is not enough, and reports it', async () => {
      const session = openSession({ strategy: keepLast(3), entries: entries(9), contextLimit: 50 });
      const fitted = vi.fn();
      session.on('fitted', fitted);
      const result = await session.ensureCompressionBeforeSend('p1', 25);
      expect(result).toMatchObject({
        compressed: { outcome: 'applied', tokensAfter: 30 },
        fitted: { droppedEntries: 1, tokensBefore: 30, tokensAfter: 20 },
        totalTokens: 20,
      });
      expect(fitted).toHaveBeenCalledExactlyOnceWith(result.fitted);
      expect(session.history.getAll()).toEqual(entries(9).slice(7));
    });

    it('makes the history fit even if the strategy throws, and reports it', async () => {
      const error = new Error('no summary');
      const strategy = strategyOf(() => Promise.reject(error));
      const session = openSession({ strategy, entries: entries(9), contextLimit: 50 });
      const failed = vi.fn();
      session.on('compressionFailed', failed);
      const result = await session.ensureCompressionBeforeSend('p1');
      expect(result).toMatchObject({ compressed: null, totalTokens: 40 });
      expect(failed).toHaveBeenCalledExactlyOnceWith({ error });
    });

    it('throws with both numbers when the entries that must stay do not fit', async () => {
      const session = openSession({ strategy: keepLast(3), entries: entries(9), contextLimit: 50 });
      const sending = session.ensureCompressionBeforeSend('p1', 45);
      await expect(sending).rejects.toThrow(ContextWindowExceededError);
      await expect(sending).rejects.toMatchObject({
        code: 'CONTEXT_WINDOW_EXCEEDED',
        projectedTokens: 55,
        contextLimit: 50,
      });
    });
  });
});
