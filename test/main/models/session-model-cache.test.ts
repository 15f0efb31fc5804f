// How long a sent prompt is cached, according to host, request or model, and what that costs.

import { describe, expect, it } from 'vitest';

import { modelPrice } from '../../../src/main/models/model-prices.js';
import { CacheTerms } from '../../../src/main/models/session-model.js';
import { openNoted, openSession } from '../../support/session-bench.js';
import { humanText } from '../../../src/shared/content.js';
import { historyOf } from '../../support/notation.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const opus = (): ReturnType<typeof modelPrice> => modelPrice('claude-opus-5-5');

describe('CacheTerms', () => {
  it.each([
    ['claude-opus-5-5', 5 * MINUTE],
    ['gpt-6.2-sol', 30 * MINUTE],
    ['gpt-5.5', 24 * HOUR],
    ['gemini-3.1-pro', 5 * MINUTE],
    ['unheard-of', 5 * MINUTE],
  ])('are of %s: %d ms', (model, ttlMs) => {
    expect(new CacheTerms(undefined, () => modelPrice(model)).ttlMs).toBe(ttlMs);
  });

  it('follow the host before the request, and the request before the model', () => {
    const terms = new CacheTerms(undefined, opus);
    terms.beginRequest(HOUR);
    expect(terms.ttlMs).toBe(HOUR);
    const given = new CacheTerms(1_000, opus);
    given.beginRequest(HOUR);
    expect(given.ttlMs).toBe(1_000);
  });

  it('use the lifetime that the former request asked for, and the prices of the present one', () => {
    const terms = new CacheTerms(undefined, opus);
    terms.beginRequest(HOUR);
    expect(terms.prices).toEqual({ read: 0.2, write: 8 });
    terms.endRequest();
    terms.beginRequest(5 * MINUTE);
    expect([terms.ttlMs, terms.prices.write]).toEqual([HOUR, 5]);
    terms.endRequest();
    terms.beginRequest(undefined);
    expect(terms.ttlMs).toBe(5 * MINUTE);
  });

  it('charge no more than input where nothing is cached', () => {
    const terms = new CacheTerms(undefined, () => modelPrice('claude-haiku-5-5'));
    terms.beginRequest(0);
    expect(terms.price).toMatchObject({ cacheWrite: 0.1, above: { cacheWrite: 0.5 } });
  });

  it('charge the same share more above a price step', () => {
    const terms = new CacheTerms(undefined, () => modelPrice('gpt-6.2-sol'));
    terms.beginRequest(12 * HOUR);
    expect(terms.price).toMatchObject({ cacheWrite: 5, above: { cacheWrite: 10, cacheRead: 0.2 } });
  });
});

describe('Session', () => {
  it.each([
    [HOUR, null],
    [undefined, 'cache-cold'],
  ])('follows a request that asks for %s ms of caching', async (cacheTtlMs, reason) => {
    let nowMs = 0;
    const policy = { edits: 'batched', minReclaimTokens: 1_000 } as const;
    const price = () => ({ ...modelPrice('claude-opus-5-5')!, leastCachedTokens: 0 });
    const timing = { ...policy, price, now: () => nowMs };
    const session = openNoted('h a:r1 t:r1', { timing });
    await session.ensureCompressionBeforeSend('p', 0, 'send', { cacheTtlMs });
    session.history.addAll(historyOf('a:w2 t:w2'));
    nowMs = 10 * MINUTE;
    const { pruned } = await session.ensureCompressionBeforeSend('p', 0, 'send', { cacheTtlMs });
    expect(pruned?.reason ?? null).toBe(reason);
  });

  it('refuses an invalid lifetime', () => {
    const session = openSession({ entries: [humanText('begin')] });
    expect(() => session.ensureCompressionBeforeSend('p', 0, 's', { cacheTtlMs: -1 })).toThrow(
      RangeError,
    );
  });
});
