// The cheap estimate: how near it is to exact counts, and that no payload stops it.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { humanText, toolContent, toolResponse } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { blockTexts } from '../../../src/shared/tokens/content-text.js';
import { entryCharacters, estimateEntryTokens } from '../../../src/shared/tokens/estimate.js';

function response(result: unknown, error?: string): IContent {
  return toolContent([toolResponse('1', 'tool', result, error)]);
}

function charactersOfTexts(entry: IContent): number {
  return entry.blocks.flatMap(blockTexts).reduce((sum, text) => sum + text.length, 0);
}

describe('entryCharacters', () => {
  test('is the length of the texts', () => {
    const entry: IContent = {
      speaker: 'ai',
      blocks: [
        { type: 'text', text: 'text' },
        { type: 'code', code: 'code', language: 'ts' },
        { type: 'thinking', thought: 'thought', signature: 'signature' },
        { type: 'tool_response', callId: '1', toolName: 'tool', result: 'result', error: 'error' },
        { type: 'media', mimeType: 'image/png', data: 'data', encoding: 'url', caption: 'caption' },
        { type: 'opaque', kind: 'kind', tokens: 250, callId: 'id' },
      ],
    };
    expect(entryCharacters(entry)).toBe(charactersOfTexts(entry));
  });

  test('is that of the JSON of a payload, but for escapes and one comma per collection', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: true }), (payload) => {
        const entry = response(payload);
        const json = JSON.stringify(payload);
        const collections = json.match(/[[{]/g)?.length ?? 0;
        const escapes = json.match(/\\|u00/g)?.length ?? 0;
        const difference = Math.abs(entryCharacters(entry) - charactersOfTexts(entry));
        expect(difference).toBeLessThanOrEqual(collections + escapes * 6 + 2);
      }),
    );
  });

  test('ends on a payload that contains itself', () => {
    const circular: unknown[] = [];
    circular.push(circular, circular);
    expect(entryCharacters(response(circular))).toBeGreaterThan(0);
  });

  test('survives a payload that is nested without end', () => {
    let deep: unknown = 0;
    for (let level = 0; level < 100_000; level += 1) deep = { deep };
    expect(entryCharacters(response(deep))).toBeGreaterThan(100_000);
  });
});

describe('estimateEntryTokens', () => {
  test('is a quarter of the characters, rounded up, and the constants', () => {
    expect(estimateEntryTokens(humanText('x'.repeat(9)))).toBe(3 + 3);
    expect(estimateEntryTokens(humanText(''))).toBe(3);
    expect(
      estimateEntryTokens({
        speaker: 'ai',
        blocks: [{ type: 'opaque', kind: 'kind', tokens: 250 }],
      }),
    ).toBe(3 + 2 + 250);
  });
});
