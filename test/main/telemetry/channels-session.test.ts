// What a session publishes to monitoring: through real preflights, and for other outcomes of steps.

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';

import { publishStep, watchPreflight } from '../../../src/main/telemetry/channels.js';
import type { CompactionMessage } from '../../../src/main/telemetry/channels.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { CompressionExecutionError } from '../../../src/shared/errors.js';
import { hear } from '../../support/heard-messages.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import {
  entries,
  keepLast,
  openNoted,
  openSession,
  outcomeOf,
  strategyOf,
} from '../../support/session-bench.js';
import { runs } from '../../support/scale.js';

/** A read of a file that is then written: the read is stale. */
const STALE = 'h a:r1 t:r1 a:w2 t:w2 h';

const failing = strategyOf(() =>
  Promise.reject(new CompressionExecutionError('high-density', 'said no')),
);

describe('Session', () => {
  it('publishes one message for each edit and one for the preflight', async () => {
    const compactions = hear('ctxfold:compaction');
    const preflights = hear('ctxfold:preflight');
    const session = openNoted(STALE, { strategy: keepLast(1), contextLimit: 40 });
    await session.ensureCompressionBeforeSend('p1', 3, 'tests');
    expect(compactions).toEqual([
      {
        sessionId: 'session',
        step: 'pruned',
        strategy: 'high-density',
        outcome: 'applied',
        tokensBefore: 60,
        tokensAfter: 40,
        changedEntries: 2,
        startTimeMs: expect.any(Number),
        durationMs: expect.any(Number),
      },
      {
        sessionId: 'session',
        step: 'compressed',
        strategy: 'high-density',
        outcome: 'applied',
        llmCallMade: false,
        tokensBefore: 40,
        tokensAfter: 10,
        entriesBefore: 4,
        entriesAfter: 1,
        startTimeMs: expect.any(Number),
        durationMs: expect.any(Number),
      },
    ]);
    expect(preflights).toEqual([
      {
        sessionId: 'session',
        promptId: 'p1',
        source: 'tests',
        pendingTokens: 3,
        totalTokens: 10,
        durationMs: expect.any(Number),
        outcome: 'done',
      },
    ]);
  });

  it('publishes the preflight alone when there is nothing to do', async () => {
    const compactions = hear('ctxfold:compaction');
    const preflights = hear('ctxfold:preflight');
    await openNoted('h').ensureCompressionBeforeSend('p1');
    expect(compactions).toEqual([]);
    expect(preflights).toMatchObject([{ outcome: 'done', totalTokens: 10 }]);
  });

  it('publishes the last resort, which belongs to no strategy', async () => {
    const compactions = hear('ctxfold:compaction');
    const strategy = strategyOf(async ({ history }) => history);
    const session = openSession({ strategy, entries: entries(8), contextLimit: 40 });
    await session.ensureCompressionBeforeSend('p1');
    expect(compactions.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual([
      'compressed rejected',
      'fitted applied',
    ]);
    expect(compactions[1]).not.toHaveProperty('strategy');
    expect(compactions[1]).toMatchObject({ tokensBefore: 80, tokensAfter: 30, changedEntries: 5 });
  });

  it('publishes a failed compression, with its code, and the preflight that failed with it', async () => {
    const compactions = hear('ctxfold:compaction');
    const preflights = hear('ctxfold:preflight');
    const session = openSession({ strategy: failing, entries: entries(9), contextLimit: 100 });
    expect(await outcomeOf(session.ensureCompressionBeforeSend('p1'))).toBe('COMPRESSION_FAILED');
    expect(compactions).toMatchObject([
      {
        step: 'compressed',
        outcome: 'failed',
        code: 'COMPRESSION_FAILED',
        tokensBefore: 90,
        tokensAfter: 90,
      },
    ]);
    expect(preflights).toMatchObject([{ outcome: 'failed', code: 'COMPRESSION_FAILED' }]);
  });

  it('publishes a compression that failed over the hard limit, and a completed preflight', async () => {
    const compactions = hear('ctxfold:compaction');
    const preflights = hear('ctxfold:preflight');
    const session = openSession({ strategy: failing, entries: entries(9), contextLimit: 50 });
    await session.ensureCompressionBeforeSend('p1');
    expect(compactions.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual([
      'compressed failed',
      'fitted applied',
    ]);
    expect(preflights).toMatchObject([{ outcome: 'done', totalTokens: 40 }]);
  });

  it('publishes a held compression', async () => {
    const compactions = hear('ctxfold:compaction');
    const strategy = strategyOf(async ({ history }) => history);
    const session = openSession({ strategy, entries: entries(9), contextLimit: 100 });
    await session.ensureCompressionBeforeSend('p1');
    await session.ensureCompressionBeforeSend('p2');
    expect(compactions.map(({ outcome }) => outcome)).toEqual(['rejected', 'held']);
    expect(compactions[1]).toMatchObject({ step: 'compressed', durationMs: 0 });
  });

  it('distinguishes an abort from a failure by the signal, whatever the reason', async () => {
    const compactions = hear('ctxfold:compaction');
    const preflights = hear('ctxfold:preflight');
    const abort = new AbortController();
    const strategy = strategyOf(() => {
      abort.abort(new CompressionExecutionError('high-density', 'a reason'));
      return new Promise(() => {});
    });
    const session = openSession({ strategy, entries: entries(9), contextLimit: 100 });
    const { signal } = abort;
    await outcomeOf(session.ensureCompressionBeforeSend('p1', 0, 'send', { signal }));
    await expect.poll(() => preflights).toHaveLength(1);
    expect(compactions).toMatchObject([{ step: 'compressed', outcome: 'aborted' }]);
    expect(preflights).toMatchObject([{ outcome: 'aborted' }]);
    expect(compactions[0]).not.toHaveProperty('code');
    expect(preflights[0]).not.toHaveProperty('code');
  });

  it('publishes an edit that landed as applied, even if counting its tokens fails', async () => {
    const compactions = hear('ctxfold:compaction');
    const preflights = hear('ctxfold:preflight');
    const countEntries = vi
      .fn((contents: readonly IContent[]) => Promise.resolve(contents.map(() => 10)))
      .mockImplementationOnce((contents) => Promise.resolve(contents.map(() => 10)))
      .mockImplementationOnce(() => Promise.reject(new Error('no encoding')));
    const session = openNoted('h:see+@a.ts h:@a.ts', { countEntries });
    expect(await outcomeOf(session.ensureCompressionBeforeSend('p1'))).toBe('TOKEN_COUNT_FAILED');
    expect(compactions).toMatchObject([{ step: 'pruned', outcome: 'applied' }]);
    expect(preflights).toMatchObject([{ outcome: 'failed', code: 'TOKEN_COUNT_FAILED' }]);
  });

  it('publishes even if all listeners of the session were removed', async () => {
    const compactions = hear('ctxfold:compaction');
    const session = openNoted(STALE);
    session.removeAllListeners();
    await session.ensureCompressionBeforeSend('p1');
    expect(compactions).toMatchObject([{ step: 'pruned' }]);
  });

  it('names the model of the session', async () => {
    const compactions = hear('ctxfold:compaction');
    const session = openNoted(STALE);
    session.history.add(humanText('and'), 'some-model');
    await session.ensureCompressionBeforeSend('p1');
    expect(compactions).toMatchObject([{ modelName: 'some-model' }]);
  });

  it('publishes no text except ids, codes and the names of steps, strategies and outcomes', async () => {
    const heard = [hear('ctxfold:compaction'), hear('ctxfold:preflight'), hear('ctxfold:fallback')];
    await fc.assert(
      fc.asyncProperty(arbitraryHistory({ maxEntries: 20 }), async (history) => {
        const strategy = strategyOf(() => Promise.reject(new Error(JSON.stringify(history))));
        const session = openSession({ entries: history, strategy, contextLimit: 30 });
        await outcomeOf(session.ensureCompressionBeforeSend('p1'));
      }),
      { numRuns: runs(30) },
    );
    const texts = new Set<string>();
    JSON.stringify(heard, (_, value: unknown) => {
      if (typeof value === 'string') texts.add(value);
      return value;
    });
    const known = ['session', 'p1', 'send', 'pruned', 'compressed', 'fitted', 'high-density'];
    const endings = ['applied', 'done', 'failed', 'UNKNOWN', 'CONTEXT_WINDOW_EXCEEDED'];
    expect([...known, ...endings]).toEqual(expect.arrayContaining([...texts]));
    expect(texts).toContain('failed');
  });
});

/** The start of a step, and how it ended. */
const TIMES = { startTimeMs: 0, durationMs: 1, isAborted: false };

describe('publishStep and watchPreflight', () => {
  const history = { getTotalTokens: (): number => 7, modelName: undefined };
  const session = { sessionId: 's', history };

  it('names the failure that a truncation made up for', async () => {
    const compactions = hear('ctxfold:compaction');
    const error = new CompressionExecutionError('middle-out', 'said no');
    publishStep(session, {
      ...{ step: 'compressed', strategy: 'middle-out', former: [], ...TIMES },
      event: {
        strategy: 'top-down-truncation',
        outcome: 'applied',
        fallbackFrom: { strategy: 'middle-out', error },
        llmCallMade: false,
        tokensBefore: 9,
        tokensAfter: 7,
        entriesBefore: 3,
        entriesAfter: 2,
      },
    });
    expect(compactions).toMatchObject([
      {
        strategy: 'top-down-truncation',
        fallbackFrom: { strategy: 'middle-out', code: 'COMPRESSION_FAILED' },
      },
    ]);
  });

  it('reports the start time of a step', async () => {
    const compactions = hear('ctxfold:compaction');
    const from = Date.now();
    const session = openSession({ strategy: failing, entries: entries(9), contextLimit: 100 });
    await outcomeOf(session.performCompression('p1'));
    const [message] = compactions as readonly [CompactionMessage];
    expect(message.startTimeMs).toBeGreaterThanOrEqual(from);
    expect(message.durationMs).toBeGreaterThanOrEqual(0);
    // The end is not before the start, and not in the future: clocks may differ by their resolution.
    expect(message.startTimeMs + message.durationMs).toBeLessThanOrEqual(Date.now() + 2);
  });

  it('passes on results and errors of a preflight', async () => {
    const details = { promptId: 'p', source: 'send', pendingTokens: 0 };
    const result = watchPreflight(session, details, Promise.resolve('result'));
    expect(await result).toBe('result');
    const error = new Error('as it is');
    await expect(watchPreflight(session, details, Promise.reject(error))).rejects.toBe(error);
  });

  it('reads no totals without listeners', async () => {
    const getTotalTokens = vi.fn(() => 7);
    const counting = { sessionId: 's', history: { ...history, getTotalTokens } };
    const details = { promptId: 'p', source: 'send', pendingTokens: 0 };
    await watchPreflight(counting, details, Promise.resolve());
    const failure = { thrown: new Error('no') };
    const step = {
      step: 'compressed',
      strategy: 'one-shot',
      former: [],
      failure,
      ...TIMES,
    } as const;
    publishStep(counting, step);
    expect(getTotalTokens).not.toHaveBeenCalled();
  });
});
