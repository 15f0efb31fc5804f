// Which requests count as misses of a provider's cache, and what a session reports of them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createCompactor } from '../../../src/main/compactor.js';
import { isCacheImplicit, judgeCacheRead } from '../../../src/main/preflight/prompt-cache.js';
import type { CacheRead } from '../../../src/main/preflight/prompt-cache.js';
import type { CacheMissedEvent } from '../../../src/main/preflight/session-events.js';
import { modelPrice } from '../../../src/main/models/model-prices.js';
import type { Session } from '../../../src/main/session.js';
import type { CacheMissMessage } from '../../../src/main/telemetry/channels.js';
import { humanText } from '../../../src/shared/content.js';
import { hear } from '../../support/heard-messages.js';
import { historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';
import { openNoted, openSession } from '../../support/session-bench.js';
import type { BenchParts } from '../../support/session-bench.js';

const MINUTE = 60_000;

const READ: CacheRead = {
  formerTokens: 10_000,
  inputTokens: 11_000,
  readTokens: 0,
  elapsedMs: MINUTE,
  ttlMs: 5 * MINUTE,
  isRewritten: false,
  price: modelPrice('claude-opus-5-5'),
};

describe('judgeCacheRead', () => {
  it.each<[string, Partial<CacheRead>, CacheMissedEvent['cause']]>([
    ['the session has changed nothing', {}, 'changed-request'],
    ['an edit has rewritten what was sent', { isRewritten: true }, 'edit'],
    ['the cache has expired', { elapsedMs: 5 * MINUTE }, 'expired'],
    ['the edit came after the cache had expired', { elapsedMs: 9e9, isRewritten: true }, 'expired'],
  ])('reports a miss and its cause when %s', (_, other, cause) => {
    const missed = judgeCacheRead({ ...READ, ...other });
    expect(missed).toEqual({ expectedTokens: 10_000, readTokens: 0, cause });
  });

  it.each<[string, Partial<CacheRead>]>([
    ['nearly everything was read', { readTokens: 9_500 }],
    ['only what stood behind the last mark was not read', { readTokens: 5_000 }],
    ['the request before was too short to be cached', { formerTokens: 511 }],
    ['this one is too short to be cached', { inputTokens: 511 }],
    ['the request before asked for no cache', { ttlMs: 0 }],
    [
      "the model's cache is unknown, and the prompt is short",
      { formerTokens: 4_095, price: undefined },
    ],
  ])('reports none when %s', (_, other) => {
    expect(judgeCacheRead({ ...READ, ...other })).toBeNull();
  });

  it('expects no more than the request has', () => {
    const missed = judgeCacheRead({ ...READ, inputTokens: 3_000, readTokens: 1_499 });
    expect(missed).toMatchObject({ expectedTokens: 3_000, readTokens: 1_499 });
    expect(judgeCacheRead({ ...READ, inputTokens: 3_000, readTokens: 1_500 })).toBeNull();
  });

  it('passes on the reason of the provider', () => {
    expect(judgeCacheRead({ ...READ, reason: 'tools_changed' })?.reason).toBe('tools_changed');
  });

  it('never reports a miss for a request that reads more than one that was no miss', () => {
    const tokens = fc.nat(200_000);
    const some = fc.record({
      formerTokens: tokens,
      inputTokens: tokens,
      isRewritten: fc.boolean(),
    });
    fc.assert(
      fc.property(some, tokens, tokens, (other, less, more) => {
        const read = { ...READ, ...other };
        const atLeast = judgeCacheRead({ ...read, readTokens: Math.min(less, more) });
        const atMost = judgeCacheRead({ ...read, readTokens: Math.max(less, more) });
        expect(atLeast === null && atMost !== null).toBe(false);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

describe('isCacheImplicit', () => {
  it.each([
    ['claude-opus-5-5', false],
    ['gpt-6.2-sol', false],
    ['gpt-5.5', true],
    ['gemini-3.1-pro', true],
    ['unheard-of', true],
  ])('is of %s: %s', (model, isImplicit) => {
    expect(isCacheImplicit(modelPrice(model))).toBe(isImplicit);
  });
});

interface Bench {
  readonly session: Session;
  readonly missed: CacheMissedEvent[];
  /** Sends the history as it is, that long after the request before. */
  readonly send: (
    inputTokens: number,
    cacheReadTokens?: number,
    other?: { minutes?: number; modelName?: string; cacheMissReason?: string },
  ) => Promise<void>;
}

function open(model: string, make: (parts: BenchParts) => Session = openSession): Bench {
  let nowMs = 0;
  const timing = {
    now: () => nowMs,
    edits: 'every-turn',
    price: () => modelPrice(model),
  } as const;
  const session = make({ timing, contextLimit: 100_000 });
  session.history.add(humanText('begin'), model);
  const missed: CacheMissedEvent[] = [];
  session.on('cacheMissed', (event) => missed.push(event));
  return {
    session,
    missed,
    send: async (inputTokens, cacheReadTokens, { minutes = 1, ...other } = {}) => {
      nowMs += minutes * MINUTE;
      await session.ensureCompressionBeforeSend('p');
      session.reportUsage({ inputTokens, cacheReadTokens, ...other });
      session.history.add(humanText('more'));
    },
  };
}

const miss = (
  cause: CacheMissedEvent['cause'],
  expectedTokens: number = 10_000,
): CacheMissedEvent => ({ expectedTokens, readTokens: 0, cause });

describe('Session', () => {
  describe('cacheMissed', () => {
    it("is emitted for a change that the session did not make, and published without the provider's reason", async () => {
      const heard = hear('ctxfold:cache-miss');
      const { send, missed } = open('claude-opus-5-5');
      await send(10_000, 0);
      await send(11_000, 9_900);
      expect(missed).toEqual([]);
      await send(12_000, 0, { cacheMissReason: 'tools_changed' });
      expect(missed).toEqual([{ ...miss('changed-request', 11_000), reason: 'tools_changed' }]);
      const message: CacheMissMessage = {
        sessionId: 'session',
        modelName: 'claude-opus-5-5',
        cause: 'changed-request',
        expectedTokens: 11_000,
        readTokens: 0,
      };
      expect(heard).toEqual([message]);
    });

    it('names an edit of the session that rewrote what was sent', async () => {
      const { session, send, missed } = open('claude-opus-5-5', (parts) =>
        openNoted('h a:r1 t:r1', parts),
      );
      await send(10_000, 0);
      session.history.addAll(historyOf('a:w2 t:w2'));
      await send(10_000, 0);
      await send(10_000, 0);
      expect(missed).toEqual([miss('edit'), miss('changed-request')]);
    });

    it('names the elapsed time', async () => {
      const { send, missed } = open('claude-opus-5-5');
      await send(10_000, 0);
      await send(11_000, 0, { minutes: 5 });
      expect(missed).toEqual([miss('expired')]);
    });

    it("needs two misses in a row, or the provider's reason, where caching is not guaranteed", async () => {
      const { send, missed } = open('gemini-3.1-pro');
      await send(10_000, 0);
      await send(10_000, 0);
      await send(10_000, 9_000);
      await send(10_000, 0);
      expect(missed).toEqual([]);
      await send(10_000, 0);
      expect(missed).toEqual([miss('changed-request')]);
      await send(10_000, 9_000);
      await send(10_000, 0, { cacheMissReason: 'input_changed' });
      expect(missed).toHaveLength(2);
    });

    it('is not emitted for a model of unknown caching before it has read from a cache', async () => {
      const { send, missed } = open('a-local-model');
      for (let requests = 0; requests < 5; requests += 1) await send(10_000, 0);
      expect(missed).toEqual([]);
      await send(10_000, 9_000);
      await send(10_000, 0);
      expect(missed).toEqual([]);
      await send(10_000, 0);
      expect(missed).toEqual([miss('changed-request')]);
      for (let requests = 0; requests < 5; requests += 1) {
        await send(10_000, 0, { modelName: 'another-local-model' });
      }
      expect(missed).toHaveLength(1);
    });

    it('names an edit of a request that was not answered', async () => {
      const { session, send, missed } = open('claude-opus-5-5', (parts) =>
        openNoted('h a:r1 t:r1', parts),
      );
      await send(10_000, 0);
      session.history.addAll(historyOf('a:w2 t:w2'));
      await session.ensureCompressionBeforeSend('never answered');
      await send(10_000, 0);
      expect(missed).toEqual([miss('edit')]);
    });

    it('is not emitted for another model, a cleared history, or without reported reads', async () => {
      const { session, send, missed } = open('claude-opus-5-5');
      await send(10_000, 0);
      await send(10_000);
      await send(10_000, 0, { modelName: 'claude-sonnet-5-5' });
      session.history.clear();
      session.history.add(humanText('anew'));
      await send(10_000, 0, { modelName: 'claude-sonnet-5-5' });
      expect(missed).toEqual([]);
    });

    it('compares a request with the last reported one', async () => {
      const { session, send, missed } = open('claude-opus-5-5');
      await send(10_000, 0);
      await session.ensureCompressionBeforeSend('never answered');
      await send(12_000, 0, { minutes: 3 });
      session.reportUsage({ inputTokens: 12_000, cacheReadTokens: 0 });
      expect(missed).toEqual([miss('changed-request')]);
    });
  });
});

describe('a session that goes on from a state', () => {
  const LONG = 'alpha beta '.repeat(3_000);

  async function missesOf(isAnswered: boolean): Promise<readonly CacheMissedEvent[]> {
    await using compactor = createCompactor({ preset: 'specification', offload: 'inline' });
    const sent = [humanText(LONG), ...historyOf('a:r1 t:r1 a:w2 t:w2')];
    const former = await compactor.createSession({ edits: 'at-birth' });
    // The usage of the second request is never reported.
    for (const entries of [sent.slice(0, 3), sent.slice(3)]) {
      former.history.addAll(entries, 'claude-opus-5-5');
      former.reportUsage({ inputTokens: 6_000 });
      await former.ensureCompressionBeforeSend('p');
    }
    const state = former.snapshot();
    await former.close();
    const history = isAnswered ? [...sent, ...historyOf('a')] : sent;
    const session = await compactor.createSession({ state, history, edits: 'every-turn' });
    session.history.add(humanText('Go on.'), 'claude-opus-5-5');
    const missed: CacheMissedEvent[] = [];
    session.on('cacheMissed', (event) => missed.push(event));
    const { pruned } = await session.ensureCompressionBeforeSend('p');
    expect(pruned).not.toBeNull();
    session.reportUsage({ inputTokens: 6_000, cacheReadTokens: 0 });
    return missed;
  }

  it('misses nothing of a request that was never answered, whatever it has edited', async () => {
    expect(await missesOf(false)).toEqual([]);
    expect(await missesOf(true)).toMatchObject([{ cause: 'edit' }]);
  });
});
