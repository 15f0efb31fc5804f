import { describe, expect, it } from 'vitest';
import { estimateOpaqueTokens, mediaTokensIn } from '../../../src/adapters/format/opaque-tokens.js';
import type { JsonRecord } from '../../../src/shared/json.js';
import { IMAGE_TOKENS, OTHER_MEDIA_TOKENS } from '../../../src/shared/tokens/content-text.js';

describe('estimateOpaqueTokens', () => {
  it('counts one token for four characters of names and values', () => {
    const value = { type: 'call', parts: ['1234', { text: 'four' }, 17, null, true] };
    expect(estimateOpaqueTokens(value)).toBe(Math.ceil((13 + 12 + 8) / 4));
  });

  it.each([
    ['base64', 'QUJD'.repeat(10_000)],
    ['a data URL', 'data:image/png;base64,AA=='],
    ['bytes', new Uint8Array(1_000_000)],
  ])('counts %s as an image, whatever its length', (_, payload) => {
    expect(estimateOpaqueTokens([payload])).toBe(IMAGE_TOKENS);
  });

  it('counts a long text by its length', () => {
    expect(estimateOpaqueTokens('word '.repeat(4_000))).toBe(5_000);
  });

  it('counts media by type, and encrypted data by its length, up to an image', () => {
    const mimeTypeOf = ({ mime }: JsonRecord): string | undefined => mime as string | undefined;
    const media = [{ mime: 'image/png', data: 'word '.repeat(4_000) }, { mime: 'video/mp4' }];
    expect(estimateOpaqueTokens(media, mimeTypeOf)).toBe(IMAGE_TOKENS + OTHER_MEDIA_TOKENS);
    expect(mediaTokensIn([...media, null], mimeTypeOf)).toBe(IMAGE_TOKENS + OTHER_MEDIA_TOKENS);
    expect(estimateOpaqueTokens('QUJD'.repeat(500))).toBe(500);
  });

  it('terminates for a circular value', () => {
    const value: Record<string, unknown> = { text: '1234' };
    value['self'] = value;
    expect(estimateOpaqueTokens(value)).toBeGreaterThanOrEqual(3);
  });
});
