import { describe, expect, it } from 'vitest';
import { estimateOpaqueTokens } from '../../../src/adapters/openai/content-parts.js';
import { IMAGE_TOKENS } from '../../../src/shared/tokens/content-text.js';

describe('estimateOpaqueTokens', () => {
  it('counts the strings of a value over four, keys aside', () => {
    const value = { type: 'call', parts: ['1234', { text: 'four' }, 17, null, true] };
    expect(estimateOpaqueTokens(value)).toBe(3 + 12 / 4);
  });

  it.each([
    ['base64', 'QUJD'.repeat(10_000)],
    ['a data URL', 'data:image/png;base64,AA=='],
    ['bytes', new Uint8Array(1_000_000)],
  ])('counts %s as a picture, whatever its length', (_, payload) => {
    expect(estimateOpaqueTokens({ payload })).toBe(3 + IMAGE_TOKENS);
  });

  it('counts a long text as a text', () => {
    expect(estimateOpaqueTokens('word '.repeat(4_000))).toBe(3 + 5_000);
  });

  it('ends for a value that holds itself', () => {
    const value: Record<string, unknown> = { text: '1234' };
    value['self'] = value;
    expect(estimateOpaqueTokens(value)).toBeGreaterThanOrEqual(3);
  });
});
