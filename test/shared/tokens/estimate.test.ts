// The cheap estimate: how accurate it is, and that no payload stops it.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { describe, expect, test } from 'vitest';
import { HistoryService } from '../../../src/main/history-service.js';
import { readTranscript } from '../../../src/main/formats/read-transcript.js';
import { BytePairCounter } from '../../../src/shared/tokens/byte-pair-counter.js';
import { countEntryTokens } from '../../../src/shared/tokens/count-tokens.js';
import { humanText, toolContent, toolResponse } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { blockTexts } from '../../../src/shared/tokens/content-text.js';
import {
  entryCharacters,
  estimateEntryTokens,
  estimateResultTokens,
} from '../../../src/shared/tokens/estimate.js';
import { arrangeTokens } from '../../../bench/support/arrange-tokens.js';

function response(result: unknown, error?: string): IContent {
  return toolContent([toolResponse('1', 'tool', result, error)]);
}

function charactersOfTexts(entry: IContent): number {
  return entry.blocks.flatMap(blockTexts).reduce((sum, text) => sum + text.length, 0);
}

function filledCollections(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const parts = Object.values(value);
  return parts.reduce<number>(
    (sum, part) => sum + filledCollections(part),
    Math.sign(parts.length),
  );
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

  test("is that of a payload's JSON, except for escapes and one comma more per collection", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: true }), (payload) => {
        const entry = response(payload);
        const json = typeof payload === 'string' ? payload : JSON.stringify(payload);
        const escaped = typeof payload === 'string' ? '' : json.replaceAll(/\\(?:u....|.)/g, '-');
        const escapes = escaped === '' ? 0 : json.length - escaped.length;
        const expected = charactersOfTexts(entry) - escapes + filledCollections(payload);
        expect(entryCharacters(entry)).toBe(expected);
      }),
    );
  });

  test('ends on a circular payload', () => {
    const circular: unknown[] = [];
    circular.push(circular, circular);
    expect(entryCharacters(response(circular))).toBeGreaterThan(0);
  });

  test('survives an endlessly nested payload', () => {
    let deep: unknown = 0;
    for (let level = 0; level < 100_000; level += 1) deep = { deep };
    expect(entryCharacters(response(deep))).toBeGreaterThan(100_000);
  });
});

const FOLDERS = ['../../fixtures/transcripts', '../../../examples/sessions'];
const sessions = FOLDERS.flatMap((folder) => {
  const path = join(import.meta.dirname, folder);
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(jsonl?|traj)$/.test(name))
    .map((name) => [name, join(path, name)] as const);
});
const { count } = new BytePairCounter(arrangeTokens(tokens));

function sumOf(entries: readonly IContent[], tokensOf: (entry: IContent) => number): number {
  return entries.reduce((sum, entry) => sum + tokensOf(entry), 0);
}

describe('estimateEntryTokens', () => {
  test.each(sessions)('is within a twentieth of the count of %s', async (_name, file) => {
    const { entries: contents } = await readTranscript(file);
    const counted = sumOf(contents, (entry) => countEntryTokens(entry, count));
    expect(Math.abs(sumOf(contents, estimateEntryTokens) / counted - 1)).toBeLessThan(0.05);
    expect(contents.length).toBeGreaterThan(0);
  });

  test.each(sessions)(
    'is, as the total of an uncounted history, within a twentieth of the count of %s',
    async (_name, file) => {
      const { entries: contents } = await readTranscript(file);
      const history = new HistoryService({
        countEntries: (entries) =>
          Promise.resolve(entries.map((entry) => countEntryTokens(entry, count))),
      });
      history.addAll([...contents]);
      const estimated = history.getTotalTokens();
      await history.waitForTokenUpdates();
      expect(Math.abs(estimated / history.getTotalTokens() - 1)).toBeLessThan(0.05);
    },
  );

  test('is that of the words, rounded up, and the constants', () => {
    expect(estimateEntryTokens(humanText('one two three'))).toBe(3 + 4);
    expect(estimateEntryTokens(humanText(''))).toBe(3);
    expect(
      estimateEntryTokens({
        speaker: 'ai',
        blocks: [{ type: 'opaque', kind: 'kind', tokens: 250 }],
      }),
    ).toBe(3 + 2 + 250);
  });

  test('estimates a text in a payload as on its own, plus a little for its surroundings', () => {
    const text = 'some words of a text that a tool was given';
    const alone = estimateEntryTokens(response(text));
    const inside = estimateEntryTokens(response({ text }));
    expect(inside).toBeGreaterThan(alone);
    expect(inside).toBeLessThan(alone + 6);
  });

  test('survives a circular payload', () => {
    const circular: unknown[] = [];
    circular.push(circular, 'text');
    expect(estimateEntryTokens(response(circular))).toBeGreaterThan(0);
  });
});

describe('estimateResultTokens', () => {
  test.each([
    [
      'English',
      'The file was not found, so the default settings of the project are used instead. ',
    ],
    ['Russian', 'Файл не найден, поэтому используются настройки проекта по умолчанию. '],
    ['Chinese', '找不到该文件，因此改用项目的默认设置。请检查路径是否正确，然后再次运行构建。'],
    ['Japanese', 'ファイルが見つからないため、プロジェクトの既定の設定を使用します。'],
    ['Korean', '파일을 찾을 수 없으므로 프로젝트의 기본 설정을 대신 사용합니다. '],
  ])('is near the count in %s, on its own and in JSON', (_, sentence) => {
    const text = sentence.repeat(20);
    for (const result of [text, { text }]) {
      const counted = countEntryTokens(response(result), count);
      expect(estimateResultTokens({ result }) / counted).toBeGreaterThan(0.75);
      expect(estimateResultTokens({ result }) / counted).toBeLessThan(1.4);
    }
  });
});
