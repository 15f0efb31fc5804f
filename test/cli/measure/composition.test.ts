// What the parts of a history add up to.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aiContent, humanText, toolCall, toolContent, toolResponse } from '../../../src/index.js';
import type { IContent } from '../../../src/index.js';
import { categoryOf, compositionOf, tokensByBlock } from '../../../src/cli/measure/composition.js';
import type { Composition } from '../../../src/cli/measure/composition.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';

const sum = (numbers: Iterable<number>): number =>
  Array.from(numbers).reduce((total, number) => total + number, 0);

const weights = fc.array(fc.nat(5_000), { minLength: 1, maxLength: 20 });

/** The composition of a history whose entries weigh what the weights say, over and over. */
function composed(history: readonly IContent[], given: readonly number[]): Composition {
  const places = new Map(history.map((entry, at) => [entry, at]));
  return compositionOf(history, (entry) => given[(places.get(entry) ?? 0) % given.length] ?? 0);
}

describe('compositionOf', () => {
  test('sums up to what its entries weigh, in whole tokens', () => {
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 60 }), weights, (history, given) => {
        const { byCategory, byTool } = composed(history, given);
        const total = sum(history.map((_, at) => given[at % given.length] ?? 0));
        expect(sum(byCategory.values())).toBe(total);
        expect([...byCategory.values()].every(Number.isInteger)).toBe(true);
        const tools = [...byTool.values()];
        expect(sum(tools.map(({ callTokens }) => callTokens))).toBe(
          byCategory.get('tool-call') ?? 0,
        );
        expect(sum(tools.map(({ resultTokens }) => resultTokens))).toBe(
          byCategory.get('tool-result') ?? 0,
        );
      }),
    );
  });

  test('counts every block and every call', () => {
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 60 }), weights, (history, given) => {
        const { blocksByCategory, byTool } = composed(history, given);
        const blocks = history.flatMap((entry) => entry.blocks);
        expect(sum(blocksByCategory.values())).toBe(blocks.length);
        const calls = blocks.filter(({ type }) => type === 'tool_call');
        expect(sum([...byTool.values()].map((tool) => tool.calls))).toBe(calls.length);
      }),
    );
  });

  test('holds an entry as often as it was added', () => {
    const entry = humanText('hello');
    const composition = compositionOf([entry, entry], () => 10);
    expect(composition.byCategory.get('user-text')).toBe(20);
  });

  test('tells calls and results of a tool apart', () => {
    const call = aiContent([toolCall('1', 'Read', { file_path: 'a' })]);
    const result = toolContent([toolResponse('1', 'Read', 'text')]);
    const { byTool } = compositionOf([call, result], (entry) => (entry === call ? 12 : 400));
    expect(byTool).toEqual(new Map([['Read', { calls: 1, callTokens: 12, resultTokens: 400 }]]));
  });

  test('gives what an entry without blocks weighs to no block', () => {
    const composition = compositionOf([{ speaker: 'ai', blocks: [] }], () => 3);
    expect(composition.byCategory.get('other')).toBe(3);
    expect(composition.blocksByCategory.get('other')).toBe(0);
  });
});

describe('tokensByBlock', () => {
  test('splits in proportion to the length of texts', () => {
    const entry = aiContent([
      { type: 'text', text: 'x'.repeat(4_000) },
      { type: 'text', text: 'x'.repeat(12_000) },
    ]);
    expect(tokensByBlock(entry, 400)).toEqual([100, 300]);
  });

  test('splits evenly what is nowhere said to weigh anything', () => {
    const entry = aiContent([
      { type: 'text', text: '' },
      { type: 'text', text: '' },
    ]);
    expect(tokensByBlock(entry, 3)).toEqual([2, 1]);
  });
});

describe('categoryOf', () => {
  test.each([
    ['user-text', humanText('hi')],
    ['assistant-text', aiContent('hi')],
    ['summary', aiContent('so far', { isSummary: true })],
    ['assistant-text', aiContent([{ type: 'code', code: '1 + 1' }])],
    ['thinking', aiContent([{ type: 'thinking', thought: 'hm' }])],
    ['tool-call', aiContent([toolCall('1', 'Read', {})])],
    ['tool-result', toolContent([toolResponse('1', 'Read', '')])],
    ['other', aiContent([{ type: 'opaque', kind: 'approval', tokens: 1 }])],
  ])('finds %s', (category, entry) => {
    expect(entry.blocks.map((block) => categoryOf(block, entry))).toEqual([category]);
  });
});
