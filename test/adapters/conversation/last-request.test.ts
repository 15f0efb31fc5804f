import { describe, expect, it } from 'vitest';
import { LastRequest } from '../../../src/adapters/conversation/last-request.js';

describe('LastRequest, refused as too long', () => {
  it.each([
    ['subtracts text that the estimate lacks', 9_000, 12_000, 3_000],
    ['scales where the model counts more in all of the prompt', 9_000, 18_000, 5_000],
    ['subtracts where no model counts so much more, while that leaves room', 2_000, 10_500, 8_500],
    ['takes nothing where only the answer can lack room', 2_000, 11_500, 0],
  ])('%s', (_, estimated, counted, excess) => {
    const request = new LastRequest();
    request.tokens = estimated;
    const refusal = `prompt is too long: ${counted} tokens > 10000 maximum`;
    expect(request.excessTokens(refusal, 10_000, 0)).toBe(excess);
  });
});
