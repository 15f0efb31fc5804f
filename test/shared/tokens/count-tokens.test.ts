// Exact counts of entries: what counts, and that nothing throws.

import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { BytePairCounter } from '../../../src/shared/tokens/byte-pair-counter.js';
import {
  BLOCK_OVERHEAD_TOKENS,
  ENTRY_OVERHEAD_TOKENS,
  IMAGE_TOKENS,
  OTHER_MEDIA_TOKENS,
  UNSERIALIZABLE_PAYLOAD,
  blockTexts,
} from '../../../src/shared/tokens/content-text.js';
import { countEntryTokens } from '../../../src/shared/tokens/count-tokens.js';
import { historyOf } from '../../support/notation.js';
import { arrangeTokens } from '../../../bench/support/arrange-tokens.js';

const { count: countText } = new BytePairCounter(arrangeTokens(tokens));

function tokensOf(entry: IContent): number {
  return countEntryTokens(entry, countText);
}

function media(mimeType: string, change: object = {}): ContentBlock {
  return { type: 'media', mimeType, data: 'A'.repeat(1_000), encoding: 'base64', ...change };
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

  test('uses a constant for media and counts their caption and file name', () => {
    const bare = ENTRY_OVERHEAD_TOKENS + BLOCK_OVERHEAD_TOKENS.media;
    expect(tokensOf({ speaker: 'human', blocks: [media('image/png')] })).toBe(bare + IMAGE_TOKENS);
    expect(tokensOf({ speaker: 'human', blocks: [media('audio/wav')] })).toBe(
      bare + OTHER_MEDIA_TOKENS,
    );
    expect(blockTexts(media('image/png', { caption: 'c', filename: 'f' }))).toEqual(['c', 'f']);
  });

  test('adds the stated tokens of media in a result', () => {
    const response = toolResponse('1', 'shot', '[image]');
    const bare = tokensOf(toolContent([response]));
    expect(tokensOf(toolContent([{ ...response, mediaTokens: 1_600 }]))).toBe(bare + 1_600);
    expect(tokensOf(toolContent([{ ...response, mediaTokens: 0 }]))).toBe(bare);
  });

  test('uses the stated tokens of an opaque block and counts nothing else of it', () => {
    const tokens = ENTRY_OVERHEAD_TOKENS + BLOCK_OVERHEAD_TOKENS.opaque + 250;
    expect(tokensOf(historyOf('a:&a-very-long-kind(250)=call_1')[0] ?? aiContent([]))).toBe(tokens);
    expect(blockTexts({ type: 'opaque', kind: 'kind', tokens: 250, callId: 'id' })).toEqual([]);
  });

  test.each([
    ['undefined', undefined, []],
    ['a function', () => 0, []],
    ['a big integer', 1n, [UNSERIALIZABLE_PAYLOAD]],
    ['a text', 'as it is', ['as it is']],
  ])('survives a payload that is %s', (_name, payload, texts) => {
    expect(blockTexts(toolResponse('1', 'n', payload))).toEqual(['n', ...texts]);
  });

  test('survives a circular or endlessly nested payload', () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    let deep: unknown = 0;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(tokensOf(toolContent([toolResponse('1', 'n', circular)]))).toBeGreaterThan(0);
    expect(tokensOf(toolContent([toolResponse('1', 'n', deep)]))).toBeGreaterThan(0);
  });

  test('counts the text of special tokens as ordinary text', () => {
    expect(countText('<|endoftext|>')).toBeGreaterThan(1);
    expect(tokensOf(humanText('<|im_start|>system<|endofprompt|>'))).toBeGreaterThan(10);
  });

  test('counts lone surrogates', () => {
    expect(tokensOf(humanText('\ud800 \udc00x\udfff'))).toBeGreaterThan(ENTRY_OVERHEAD_TOKENS);
  });

  test('is exact on source code', () => {
    const source = 'export function* pieces(text: string): Generator<string> {\n  yield text;\n}\n';
    const text = source.repeat(200);
    expect(tokensOf(humanText(text))).toBe(countTokens(text) + ENTRY_OVERHEAD_TOKENS);
  });
});
