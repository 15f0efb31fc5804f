// Exact counts: what counts, how long hostile text takes, and that nothing of it throws.

import * as encoding from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import {
  BLOCK_OVERHEAD_TOKENS,
  ENTRY_OVERHEAD_TOKENS,
  IMAGE_TOKENS,
  OTHER_MEDIA_TOKENS,
  UNSERIALIZABLE_PAYLOAD,
  blockTexts,
} from '../../../src/shared/tokens/content-text.js';
import { countEachEntry, countEntryTokens } from '../../../src/shared/tokens/count-tokens.js';
import { createPieceCounter } from '../../../src/shared/tokens/piece-counter.js';

const counter = createPieceCounter(encoding);

function tokensOf(entry: IContent): number {
  return countEntryTokens(entry, counter.count);
}

function media(mimeType: string, change: object = {}): ContentBlock {
  return { type: 'media', mimeType, data: 'A'.repeat(1_000), encoding: 'base64', ...change };
}

/** Distinct CJK characters, far apart: hardly any two of them merge. */
function cjk(length: number): string {
  return String.fromCharCode(
    ...Array.from({ length }, (_, at) => 0x4e00 + ((at * 7_919) % 20_000)),
  );
}

describe('countEntryTokens', () => {
  test('adds the overhead of the entry and of its blocks', () => {
    const one = ({ length }: string): number => Math.ceil(length / 1e9);
    const entry = aiContent([
      { type: 'text', text: 'a' },
      { type: 'thinking', thought: 'b' },
      toolCall('1', 'name', {}),
    ]);
    const { thinking, tool_call: call } = BLOCK_OVERHEAD_TOKENS;
    expect(countEntryTokens(entry, one)).toBe(ENTRY_OVERHEAD_TOKENS + 1 + thinking + 1 + call + 2);
  });

  test('counts a response by its name, result and error, the result as text or as JSON', () => {
    expect(blockTexts(toolResponse('1', 'ls', 'a\nb', 'failed'))).toEqual(['ls', 'a\nb', 'failed']);
    expect(blockTexts(toolResponse('1', 'ls', { files: ['a'] }))).toEqual([
      'ls',
      '{"files":["a"]}',
    ]);
  });

  test('counts no opaque fields and no ids', () => {
    const plain: IContent = aiContent([{ type: 'thinking', thought: 't' }]);
    const signed: IContent = aiContent(
      [{ type: 'thinking', thought: 't', signature: 'x'.repeat(999), encryptedContent: 'y' }],
      { id: 'an id', usage: { input: 1 } },
    );
    expect(tokensOf(signed)).toBe(tokensOf(plain));
    expect(tokensOf(aiContent([toolCall('a very long id', 'n', 1)]))).toBe(
      tokensOf(aiContent([toolCall('1', 'n', 1)])),
    );
  });

  test('takes a constant for a medium and counts its caption and file name', () => {
    const bare = ENTRY_OVERHEAD_TOKENS + BLOCK_OVERHEAD_TOKENS.media;
    expect(tokensOf({ speaker: 'human', blocks: [media('image/png')] })).toBe(bare + IMAGE_TOKENS);
    expect(tokensOf({ speaker: 'human', blocks: [media('audio/wav')] })).toBe(
      bare + OTHER_MEDIA_TOKENS,
    );
    expect(blockTexts(media('image/png', { caption: 'c', filename: 'f' }))).toEqual(['c', 'f']);
  });

  test.each([
    ['undefined', undefined, []],
    ['a function', () => 0, []],
    ['a big integer', 1n, [UNSERIALIZABLE_PAYLOAD]],
    ['a text', 'as it is', ['as it is']],
  ])('survives a payload that is %s', (_name, payload, texts) => {
    expect(blockTexts(toolResponse('1', 'n', payload))).toEqual(['n', ...texts]);
  });

  test('survives a payload that contains itself or is nested without end', () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    let deep: unknown = 0;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(tokensOf(toolContent([toolResponse('1', 'n', circular)]))).toBeGreaterThan(0);
    expect(tokensOf(toolContent([toolResponse('1', 'n', deep)]))).toBeGreaterThan(0);
  });

  test('counts the text of special tokens as ordinary text', () => {
    expect(counter.count('<|endoftext|>')).toBeGreaterThan(1);
    expect(tokensOf(humanText('<|im_start|>system<|endofprompt|>'))).toBeGreaterThan(10);
  });

  test('counts lone surrogates', () => {
    expect(tokensOf(humanText('\ud800 \udc00x\udfff'))).toBeGreaterThan(ENTRY_OVERHEAD_TOKENS);
  });

  test('is exact on source code', () => {
    const source = 'export function* pieces(text: string): Generator<string> {\n  yield text;\n}\n';
    const text = source.repeat(200);
    expect(tokensOf(humanText(text))).toBe(encoding.countTokens(text) + ENTRY_OVERHEAD_TOKENS);
  });

  // Generous bounds for busy machines. Uncut, the first takes 1.5 s and the second 5 s.
  test.each([
    ['60,000 times one letter', 'a'.repeat(60_000), 300],
    ['40,000 different CJK characters', cjk(40_000), 1_500],
    ['100,000 characters of base64', base64(100_000), 300],
    ['special tokens', '<|endoftext|>'.repeat(8_000), 300],
    ['spaces', ' '.repeat(100_000), 300],
    ['lone surrogates', '\ud800'.repeat(100_000), 600],
  ])('%s take no quadratic time', (_name, text, milliseconds) => {
    counter.release();
    const startedAt = performance.now();
    tokensOf(humanText(text));
    expect(performance.now() - startedAt).toBeLessThan(milliseconds);
  });
});

function base64(length: number): string {
  const bytes = Uint8Array.from({ length }, (_, at) => (at * 2_654_435_761) >>> 24);
  return Buffer.from(bytes).toString('base64').slice(0, length);
}

describe('countEachEntry', () => {
  test('returns one number per entry, in their order', () => {
    const entries = [humanText(''), humanText('a'), humanText('a b')];
    expect(countEachEntry(entries, counter.count)).toEqual(Int32Array.of(3, 4, 5));
  });
});

describe('createPieceCounter', () => {
  test('keeps the memory of the encoding small and forgets on release', () => {
    const calls: string[] = [];
    const { release } = createPieceCounter({
      countTokens: () => 0,
      setMergeCacheSize: (size) => calls.push(`size ${size}`),
      clearMergeCache: () => calls.push('clear'),
    });
    release();
    expect(calls).toEqual(['size 4096', 'clear']);
  });
});
