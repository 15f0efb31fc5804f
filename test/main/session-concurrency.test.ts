// What may happen to a session while its window is open: edits, additions, aborts, a second call.

import { setImmediate as nextImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';

import type { Offload, OffloadedPlan } from '../../src/main/offload/offload.js';
import { InlineOffload } from '../../src/main/offload/inline.js';
import type { Session } from '../../src/main/session.js';
import { humanText } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { describeHistory, historyOf } from '../support/notation.js';
import {
  deferred,
  entriesOf,
  openSession,
  outcomeOf,
  strategyOf,
} from '../support/session-bench.js';
import type { Deferred } from '../support/session-bench.js';

const STALE = 'h a:r1 t:r1 a:w2 t:w2 h';
const DENSE = 'h a:w2 t:w2 h';

/** An offload that computes at once, on the history it was given, and answers when the test says so. */
class HeldOffload implements Offload {
  readonly gates: Deferred<undefined>[] = [];
  readonly #inline: InlineOffload = new InlineOffload();

  async optimize(...args: Parameters<Offload['optimize']>): Promise<OffloadedPlan> {
    const planned = this.#inline.optimize(...args);
    const gate = deferred<undefined>();
    this.gates.push(gate);
    await gate.promise;
    return planned;
  }

  countTokens(contents: readonly IContent[]): Promise<readonly number[]> {
    return this.#inline.countTokens(contents);
  }

  answer(at: number): void {
    this.gates[at]?.resolve(undefined);
  }
}

/** A session whose next compressions end when the test says so, each with the newest two entries. */
function openCompressing(notation: string): {
  readonly session: Session;
  readonly gate: Deferred<undefined>;
  readonly started: Deferred<undefined>;
} {
  const gate = deferred<undefined>();
  const started = deferred<undefined>();
  const strategy = strategyOf(async ({ history }) => {
    started.resolve(undefined);
    await gate.promise;
    return history.slice(-2);
  });
  const session = openSession({ strategy, contextLimit: 50, entries: historyOf(notation) });
  return { session, gate, started };
}

describe('Session', () => {
  describe('while a density pass runs elsewhere', () => {
    it('applies a plan after additions to the history', async () => {
      const offload = new HeldOffload();
      const session = openSession({ offload, entries: historyOf(STALE) });
      const pass = session.ensureDensityOptimized();
      await nextImmediate();
      session.history.add(humanText('late'));
      offload.answer(0);
      await pass;
      expect(entriesOf(session)).toBe(`${DENSE} h:late`);
      expect(offload.gates).toHaveLength(1);
    });

    it('computes a plan again when the history was rewritten', async () => {
      const offload = new HeldOffload();
      const session = openSession({ offload, entries: historyOf(STALE) });
      const pass = session.ensureDensityOptimized();
      await nextImmediate();
      session.history.clear();
      session.history.addAll(historyOf(`h:new ${STALE}`));
      offload.answer(0);
      await nextImmediate();
      offload.answer(1);
      expect(await pass).toMatchObject({ metadata: { readWritePairsPruned: 1 } });
      expect(entriesOf(session)).toBe(`h:new ${DENSE}`);
    });

    it('prunes a history again that was cleared while a pass ran that was aborted', async () => {
      const offload = new HeldOffload();
      const timing = { edits: 'batched', minReclaimTokens: 1 } as const;
      const session = openSession({ offload, timing, contextLimit: 100_000 });
      const window = async (): Promise<void> => {
        const ended = session.ensureCompressionBeforeSend('p');
        await nextImmediate();
        offload.answer(offload.gates.length - 1);
        await ended;
      };
      session.history.addAll(Array.from({ length: 200 }, (_, at) => humanText(`entry ${at}`)));
      await window();
      session.history.addAll(Array.from({ length: 10 }, (_, at) => humanText(`later ${at}`)));
      const controller = new AbortController();
      const pass = session.ensureDensityOptimized(controller);
      await nextImmediate();
      session.history.clear();
      controller.abort(new Error('enough'));
      await expect(pass).rejects.toThrow('enough');
      for (const notation of ['h a:r1 t:r1 a', 'h a:w2 t:w2 a']) {
        session.history.addAll(historyOf(notation));
        await window();
      }
      expect(entriesOf(session)).toBe('h a h a:w2 t:w2 a');
    });

    it('computes it here after two plans that came too late', async () => {
      const offload = new HeldOffload();
      const session = openSession({ offload, entries: historyOf(STALE) });
      const pass = session.ensureDensityOptimized();
      await nextImmediate();
      for (const at of [0, 1]) {
        session.history.clear();
        session.history.addAll(historyOf(STALE));
        offload.answer(at);
        await nextImmediate();
      }
      await pass;
      expect(offload.gates).toHaveLength(2);
      expect(entriesOf(session)).toBe(DENSE);
    });

    it('rejects as the offload does, and the history is clean', async () => {
      const offload = new HeldOffload();
      const session = openSession({ offload, entries: historyOf(STALE) });
      const pass = session.ensureDensityOptimized();
      await nextImmediate();
      offload.gates[0]?.reject(new Error('the pass is broken'));
      await expect(pass).rejects.toThrow('the pass is broken');
      expect(session.densityDirty).toBe(false);
      expect(entriesOf(session)).toBe(STALE);
    });
  });

  describe('while a compression runs', () => {
    it('queues additions in order, and has each entry once afterwards', async () => {
      const { session, gate, started } = openCompressing('h:1 h:2 h:3 h:4 h:5');
      const window = session.ensureCompressionBeforeSend('p1');
      await started.promise;
      session.history.add(humanText('6'));
      session.history.addAll([humanText('7'), humanText('8')]);
      expect(entriesOf(session)).toBe('h:1 h:2 h:3 h:4 h:5');
      gate.resolve(undefined);
      expect(await window).toMatchObject({ compressed: { outcome: 'applied' }, totalTokens: 50 });
      expect(entriesOf(session)).toBe('h:4 h:5 h:6 h:7 h:8');
    });

    it('has no effect on a history that was cleared', async () => {
      const { session, gate, started } = openCompressing('h:1 h:2 h:3 h:4 h:5');
      const window = session.ensureCompressionBeforeSend('p1');
      await started.promise;
      session.history.add(humanText('gone too'));
      session.history.clear();
      session.history.add(humanText('new'));
      gate.resolve(undefined);
      expect(await window).toMatchObject({ compressed: { outcome: 'stale' }, totalTokens: 10 });
      expect(entriesOf(session)).toBe('h:new');
    });

    it('keeps the queue when the strategy throws', async () => {
      const { session, gate, started } = openCompressing('h:1 h:2 h:3 h:4 h:5');
      const window = session.ensureCompressionBeforeSend('p1');
      await started.promise;
      session.history.add(humanText('6'));
      gate.reject(new Error('no summary'));
      await expect(window).rejects.toThrow('no summary');
      expect(entriesOf(session)).toBe('h:1 h:2 h:3 h:4 h:5 h:6');
    });

    it('refuses to start a second one', async () => {
      const { session, gate, started } = openCompressing('h:1 h:2 h:3');
      await session.history.waitForTokenUpdates();
      const first = session.performCompression('p1');
      await started.promise;
      expect(await outcomeOf(session.performCompression('p2'))).toBe('COMPRESSION_IN_PROGRESS');
      gate.resolve(undefined);
      expect(await first).toMatchObject({ outcome: 'applied' });
    });
  });

  describe('when a window is open already', () => {
    it('a second call waits for the first and then does its own work', async () => {
      const offload = new HeldOffload();
      const session = openSession({ offload, entries: historyOf(STALE) });
      const first = session.ensureCompressionBeforeSend('p1');
      const second = session.ensureCompressionBeforeSend('p2');
      await nextImmediate();
      session.history.addAll(historyOf('a:w3 t:w3'));
      await nextImmediate();
      expect(offload.gates).toHaveLength(1);
      offload.answer(0);
      expect((await first).pruned).not.toBeNull();
      await nextImmediate();
      offload.answer(1);
      expect(await second).toMatchObject({ pruned: null, totalTokens: 60 });
    });

    it.each<[string, (session: Session) => Promise<unknown>]>([
      ['keeps the limit', (session) => session.enforceContextWindow('p2')],
      ['prunes', (session) => session.ensureDensityOptimized()],
      ['compresses', (session) => session.performCompression('p2')],
    ])(
      'a second call that only %s waits as well, and leaves the first its room',
      async (_, call) => {
        const offload = new HeldOffload();
        const session = openSession({
          offload,
          contextLimit: 60,
          entries: historyOf('h a h a h:1 a h:2'),
        });
        const first = session.ensureCompressionBeforeSend('p1', 40);
        await nextImmediate();
        const second = call(session);
        await nextImmediate();
        offload.answer(0);
        expect((await first).totalTokens).toBeLessThanOrEqual(20);
        await nextImmediate();
        offload.answer(1);
        await second;
      },
    );

    it('a second call runs even if the first has failed', async () => {
      const compress = vi
        .fn(async (): Promise<readonly IContent[]> => [humanText('short')])
        .mockRejectedValueOnce(new Error('no summary'));
      const strategy = strategyOf(compress);
      const session = openSession({ strategy, contextLimit: 20, entries: historyOf('h:1 h:2') });
      const first = session.ensureCompressionBeforeSend('p1');
      const second = session.ensureCompressionBeforeSend('p2');
      await expect(first).rejects.toThrow('no summary');
      expect(await second).toMatchObject({ compressed: { outcome: 'applied' } });
    });

    it('a call that is aborted while it waits does nothing', async () => {
      const offload = new HeldOffload();
      const session = openSession({ offload, entries: historyOf(STALE) });
      const first = session.ensureCompressionBeforeSend('p1');
      const controller = new AbortController();
      const second = session.ensureCompressionBeforeSend('p2', 0, 'send', controller);
      controller.abort('enough');
      await expect(second).rejects.toBe('enough');
      await nextImmediate();
      offload.answer(0);
      await first;
      await nextImmediate();
      expect(offload.gates).toHaveLength(1);
    });
  });

  describe('when its signal aborts', () => {
    it('before it starts, it rejects with the reason and does nothing', async () => {
      const session = openSession({ entries: historyOf(STALE) });
      const signal = AbortSignal.abort('enough');
      const window = session.ensureCompressionBeforeSend('p1', 0, 'send', { signal });
      await expect(window).rejects.toBe('enough');
      await nextImmediate();
      expect(entriesOf(session)).toBe(STALE);
      expect(session.densityDirty).toBe(true);
    });

    it('while tokens are counted, it leaves the history as it is', async () => {
      const counts = deferred<readonly number[]>();
      const session = openSession({
        countEntries: () => counts.promise,
        entries: historyOf(STALE),
      });
      const controller = new AbortController();
      const window = session.ensureCompressionBeforeSend('p1', 0, 'send', controller);
      await nextImmediate();
      controller.abort('enough');
      await expect(window).rejects.toBe('enough');
      expect(entriesOf(session)).toBe(STALE);
      counts.resolve([1, 2, 3, 4, 5, 6]);
      await session.history.waitForTokenUpdates();
      expect(session.history.getTotalTokens()).toBe(21);
    });

    it('while a plan is made, it applies nothing, and the next window makes the plan anew', async () => {
      const offload = new HeldOffload();
      const session = openSession({ offload, entries: historyOf(STALE) });
      const controller = new AbortController();
      const window = session.ensureCompressionBeforeSend('p1', 0, 'send', controller);
      await nextImmediate();
      controller.abort('enough');
      await expect(window).rejects.toBe('enough');
      offload.answer(0);
      await nextImmediate();
      expect(entriesOf(session)).toBe(STALE);
      const next = session.ensureCompressionBeforeSend('p2');
      await nextImmediate();
      offload.answer(1);
      await next;
      expect(entriesOf(session)).toBe(DENSE);
    });

    it('while the tokens of an edit are counted, the edit stays, and is reported once they are', async () => {
      const entries = historyOf('h:@a.ts h:look+@a.ts');
      const edited = deferred<readonly number[]>();
      const countEntries = vi
        .fn(() => edited.promise)
        .mockImplementationOnce(() => Promise.resolve([100, 100]));
      const session = openSession({ countEntries, entries });
      const optimized = vi.fn();
      session.on('pruned', optimized);
      const controller = new AbortController();
      const window = session.ensureCompressionBeforeSend('p1', 0, 'send', controller);
      await nextImmediate();
      expect(countEntries).toHaveBeenCalledTimes(2);
      controller.abort('enough');
      await expect(window).rejects.toBe('enough');
      await nextImmediate();
      expect(session.history.getRawHistory()[0]).not.toBe(entries[0]);
      edited.resolve([5]);
      await session.history.waitForTokenUpdates();
      await nextImmediate();
      expect(optimized).toHaveBeenCalledOnce();
      expect(session.history.getTotalTokens()).toBe(105);
    });

    it('while the strategy compresses, the history stays and accepts entries again', async () => {
      const { session, gate, started } = openCompressing('h:1 h:2 h:3 h:4 h:5');
      const controller = new AbortController();
      const window = session.ensureCompressionBeforeSend('p1', 0, 'send', controller);
      await started.promise;
      session.history.add(humanText('6'));
      controller.abort('enough');
      await expect(window).rejects.toBe('enough');
      await nextImmediate();
      gate.resolve(undefined);
      await nextImmediate();
      expect(entriesOf(session)).toBe('h:1 h:2 h:3 h:4 h:5 h:6');
      expect(session.history.isCompressing).toBe(false);
    });

    it('while the result is counted, the history stays', async () => {
      const weighed = deferred<readonly number[]>();
      const countEntries = vi
        .fn(() => weighed.promise)
        .mockImplementationOnce(() => Promise.resolve([30, 30]));
      const strategy = strategyOf(async () => [humanText('short')]);
      const entries = historyOf('h:1 h:2');
      const session = openSession({ strategy, countEntries, contextLimit: 60, entries });
      const controller = new AbortController();
      const window = session.ensureCompressionBeforeSend('p1', 0, 'send', controller);
      await nextImmediate();
      expect(countEntries).toHaveBeenCalledTimes(2);
      controller.abort('enough');
      await expect(window).rejects.toBe('enough');
      weighed.resolve([1]);
      await nextImmediate();
      expect(entriesOf(session)).toBe('h:1 h:2');
      expect(session.history.isCompressing).toBe(false);
    });

    it('gives the strategy a signal that aborts with it', async () => {
      const controller = new AbortController();
      const seen: unknown[] = [];
      const strategy = strategyOf(async ({ signal }) => {
        seen.push(signal?.aborted);
        controller.abort('enough');
        seen.push(signal?.aborted, signal?.reason);
        return [];
      });
      const session = openSession({ strategy, entries: historyOf('h') });
      const compressing = session.performCompression('p1', { signal: controller.signal });
      await expect(compressing).rejects.toBe('enough');
      expect(seen).toEqual([false, true, 'enough']);
    });
  });

  describe('events', () => {
    it('report each change once, in order', async () => {
      const strategy = strategyOf(async ({ history }) => history.slice(-1));
      const session = openSession({ strategy, contextLimit: 40, entries: historyOf(STALE) });
      const events: unknown[] = [];
      session.on('pruned', (event) => events.push(event));
      session.on('compressed', (event) => events.push(event));
      const { pruned, compressed } = await session.ensureCompressionBeforeSend('p1');
      expect(events).toEqual([pruned, compressed]);
    });

    it('report a compression even if counting fails after it', async () => {
      const countEntries = (contents: readonly IContent[]): Promise<readonly number[]> =>
        describeHistory(contents).includes('meanwhile')
          ? Promise.reject(new Error('no encoding'))
          : Promise.resolve(contents.map(() => 10));
      const strategy = strategyOf(async ({ history }) => {
        session.history.add(humanText('meanwhile'));
        return history.slice(-2);
      });
      const session = openSession({ strategy, countEntries, entries: historyOf('h:1 h:2 h:3') });
      await session.history.waitForTokenUpdates();
      const compressed = vi.fn();
      session.on('compressed', compressed);
      expect(await outcomeOf(session.performCompression('p1'))).toBe('TOKEN_COUNT_FAILED');
      expect(compressed).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ outcome: 'applied', entriesBefore: 3, entriesAfter: 3 }),
      );
    });

    it('report fallbacks', () => {
      const session = openSession();
      const events = vi.fn();
      session.on('fallback', events);
      const event = { task: 'count', error: new Error('died'), attempts: 2 } as const;
      session.reportFallback(event);
      expect(events).toHaveBeenCalledWith(event);
    });

    it('survive a listener that throws', async () => {
      const error = vi.fn();
      const logger = { debug: vi.fn(), warn: vi.fn(), error };
      const session = openSession({ logger, entries: historyOf(STALE) });
      session.on('pruned', () => {
        throw new Error('listener');
      });
      expect(await session.ensureCompressionBeforeSend('p1')).toMatchObject({ totalTokens: 40 });
      expect(error).toHaveBeenCalledOnce();
    });
  });
});
