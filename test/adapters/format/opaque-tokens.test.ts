import { describe, expect, it } from 'vitest';
import { estimateOpaqueTokens, mediaTokensIn } from '../../../src/adapters/format/opaque-tokens.js';
import type { JsonRecord } from '../../../src/shared/json.js';
import { IMAGE_TOKENS, OTHER_MEDIA_TOKENS } from '../../../src/shared/tokens/content-text.js';

describe('estimateOpaqueTokens', () => {
  it('counts the characters of names and values over four', () => {
    const value = { type: 'call', parts: ['1234', { text: 'four' }, 17, null, true] };
    expect(estimateOpaqueTokens(value)).toBe(Math.ceil((13 + 12 + 8) / 4));
  });

  it.each([
    ['base64', 'QUJD'.repeat(10_000)],
    ['a data URL', 'data:image/png;base64,AA=='],
    ['bytes', new Uint8Array(1_000_000)],
  ])('counts %s as a picture, whatever its length', (_, payload) => {
    expect(estimateOpaqueTokens([payload])).toBe(IMAGE_TOKENS);
  });

  it('counts a long text as a text', () => {
    expect(estimateOpaqueTokens('word '.repeat(4_000))).toBe(5_000);
  });

  it('counts media by their type, and what is sealed by its length if that is less than a picture', () => {
    const mimeTypeOf = ({ mime }: JsonRecord): string | undefined => mime as string | undefined;
    const media = [{ mime: 'image/png', data: 'word '.repeat(4_000) }, { mime: 'video/mp4' }];
    expect(estimateOpaqueTokens(media, mimeTypeOf)).toBe(IMAGE_TOKENS + OTHER_MEDIA_TOKENS);
    expect(mediaTokensIn([...media, 'image/png'], mimeTypeOf)).toBe(
      IMAGE_TOKENS + OTHER_MEDIA_TOKENS,
    );
    expect(estimateOpaqueTokens('QUJD'.repeat(500))).toBe(500);
  });

  it('ends for a value that holds itself', () => {
    const value: Record<string, unknown> = { text: '1234' };
    value['self'] = value;
    expect(estimateOpaqueTokens(value)).toBeGreaterThanOrEqual(3);
  });
});
