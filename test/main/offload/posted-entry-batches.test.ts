// Where batches are cut and what they omit.

import { describe, expect, test } from 'vitest';
import { countBatches } from '../../../src/main/offload/posted-entry.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';

function sizes(contents: readonly IContent[]): readonly number[] {
  return [...countBatches(contents)].map((batch) => batch.length);
}

describe('countBatches', () => {
  test('cuts by entries', () => {
    expect(sizes(Array.from({ length: 600 }, () => humanText('x')))).toEqual([256, 256, 88]);
    expect(sizes([])).toEqual([]);
  });

  test('cuts by characters; an entry that is too large goes alone', () => {
    const large = (millions: number): IContent => humanText('x'.repeat(millions * 1e6));
    expect(sizes([large(0.6), large(0.6), large(3), large(0.1), large(0.1)])).toEqual([1, 1, 1, 2]);
  });

  test('omits what does not affect counts', () => {
    const entry: IContent = {
      speaker: 'human',
      blocks: [
        { type: 'media', mimeType: 'image/png', data: 'AAAA', encoding: 'base64', caption: 'c' },
        { type: 'thinking', thought: 't', signature: 's', encryptedContent: 'e' },
      ],
      metadata: { providerMetadata: () => 0 },
    };
    expect([...countBatches([entry])]).toEqual([
      [
        {
          speaker: 'human',
          blocks: [
            { type: 'media', mimeType: 'image/png', data: '', encoding: 'base64', caption: 'c' },
            { type: 'thinking', thought: 't', encryptedContent: '' },
          ],
        },
      ],
    ]);
  });
});
