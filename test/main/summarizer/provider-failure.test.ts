// Classifies failures of a provider by the shapes that SDKs throw.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { readProviderFailure } from '../../../src/main/summarizer/provider-failure.js';
import { SummarizerError } from '../../../src/shared/errors.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
beforeEach(() => {
  vi.spyOn(Date, 'now').mockReturnValue(NOW);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const withFields = (fields: object): Error => Object.assign(new Error('it failed'), fields);

describe('readProviderFailure', () => {
  it.each<[string, unknown, boolean, string]>([
    ['status 429', withFields({ status: 429 }), true, 'SUMMARIZER_UNREACHABLE'],
    ['status 500', withFields({ statusCode: 500 }), true, 'SUMMARIZER_UNREACHABLE'],
    ['status 400', withFields({ statusCode: 400 }), false, 'SUMMARIZER_FAILED'],
    ['an explicit flag', withFields({ isRetryable: true }), true, 'SUMMARIZER_FAILED'],
    ['a reset', withFields({ code: 'ECONNRESET' }), true, 'SUMMARIZER_UNREACHABLE'],
    [
      'a cause below',
      withFields({
        cause: new TypeError('fetch failed', { cause: withFields({ code: 'EPIPE' }) }),
      }),
      true,
      'SUMMARIZER_UNREACHABLE',
    ],
    ['a deadline', new SummarizerError('late', 'SUMMARIZER_TIMEOUT'), true, 'SUMMARIZER_TIMEOUT'],
    ['a bug', new TypeError('x is not a function'), false, 'SUMMARIZER_FAILED'],
    ['a value that is not an error', undefined, false, 'SUMMARIZER_FAILED'],
  ])('decides from %s whether to retry', (_, thrown, isRetryable, code) => {
    const failure = readProviderFailure(thrown);
    expect(failure).toMatchObject({ isRetryable, error: { code } });
    expect(failure.error).toBeInstanceOf(SummarizerError);
  });

  it.each<[object, number | undefined]>([
    [{ responseHeaders: { 'retry-after': '7' } }, 7_000],
    [{ responseHeaders: { 'retry-after-ms': '250', 'retry-after': '7' } }, 250],
    [{ headers: new Headers({ 'Retry-After': 'Thu, 01 Jan 2026 00:00:03 GMT' }) }, 3_000],
    [{ headers: new Headers({ 'Retry-After': 'Wed, 31 Dec 2025 00:00:00 GMT' }) }, 0],
    [{ responseHeaders: { 'retry-after': 'soon' } }, undefined],
    [{ responseHeaders: { 'retry-after-ms': '-1' } }, undefined],
    [{ responseHeaders: null }, undefined],
    [{}, undefined],
  ])('reads how long to wait from %j', (fields, retryAfterMs) => {
    expect(readProviderFailure(withFields({ status: 429, ...fields })).retryAfterMs).toBe(
      retryAfterMs,
    );
  });

  it('keeps one short line of the message in the cause and no other field', () => {
    const { error } = readProviderFailure(
      Object.assign(new Error(`first\nsecond ${'x'.repeat(9_000)}`), {
        requestBodyValues: { messages: ['the history'] },
        responseBody: 'the history',
      }),
    );
    expect(error.message).toBe("The summarizer's model could not answer.");
    expect((error.cause as Error).message).toMatch(/^first second x+$/);
    expect((error.cause as Error).message.length).toBeLessThan(400);
    expect(JSON.stringify(Object.entries(error.cause as Error))).not.toContain('history');
    expect((error.cause as Error).stack).toContain('provider-failure.test');
  });

  it('ends at a circular chain of causes', () => {
    const error = withFields({});
    error.cause = error;
    expect(readProviderFailure(error).isRetryable).toBe(false);
  });
});
