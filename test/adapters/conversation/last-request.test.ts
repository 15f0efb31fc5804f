import { describe, expect, it } from 'vitest';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { LastRequest } from '../../../src/adapters/conversation/last-request.js';
import type { CompactCall } from '../../../src/adapters/request/adapter-options.js';
import { createCompactor } from '../../../src/main/compactor.js';

describe('LastRequest, refused as too long', () => {
  it.each([
    ['subtracts text that the estimate lacks', 9_000, 12_000, 3_000],
    ['scales if the model counts more for the whole prompt', 9_000, 18_000, 5_000],
    ['subtracts if no model counts so much more, and that leaves room', 2_000, 10_500, 8_500],
    ['is 0 if only the answer can lack room', 2_000, 11_500, 0],
  ])('%s', (_, estimated, counted, excess) => {
    const request = new LastRequest();
    request.size = { tokens: estimated, countedTokens: estimated };
    const refusal = `prompt is too long: ${counted} tokens > 10000 maximum`;
    const session = {
      contextLimit: 10_000,
      contextUsage: () => ({ tokens: 0 }),
      history: { getTotalTokens: () => 0 },
    };
    expect(request.excessTokens({ refusal }, session as never, 0)).toBe(excess);
  });
});

describe('a callback in CompactCall', () => {
  it.each([
    ['throws', (): unknown => JSON.parse('{')],
    ['rejects, which would end the process', () => Promise.reject(new Error('offline'))],
  ])('that %s fails neither the call nor the process', async (_, callback) => {
    const warnings: string[] = [];
    const logger = { ...SILENT_LOGGER, warn: (said: string) => warnings.push(said) };
    const given = [{}, {}, {}];
    const edited = [...given.slice(0, 2), {}];
    const request = new LastRequest();
    const call = { answerUsage: callback as never, keepsCacheBefore: callback as never };
    request.begin(
      call,
      () => undefined,
      () => undefined,
      logger,
    );
    expect(request.returns(given, given)).toBe(given);
    request.noteEdit(given, edited);
    expect(request.returns(edited, edited)).toBe(edited);
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toHaveLength(2);
  });
});

describe('answerUsage', () => {
  it('ignores an invalid usage with a warning, because the answer is there', async () => {
    await using compactor = createCompactor({ offload: 'inline' });
    const session = await compactor.createSession({});
    const warnings: unknown[] = [];
    const logger = { ...SILENT_LOGGER, warn: (...said: unknown[]) => warnings.push(said) };
    let take: ((usage: CompactCall) => void) | undefined;
    const call: CompactCall = { answerUsage: (taken) => (take = taken) };
    new LastRequest().begin(
      call,
      () => session,
      () => undefined,
      logger,
    );
    take?.({ reportedInputTokens: 10, reportedCacheReadTokens: 20 });
    expect(warnings).toEqual([
      ['the usage of an answer is ignored', { error: expect.any(RangeError) as unknown }],
    ]);
  });
});
