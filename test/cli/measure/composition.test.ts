// Sums over the parts of a history.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aiContent, humanText, toolCall, toolContent, toolResponse } from '../../../src/index.js';
import type { IContent } from '../../../src/index.js';
import {
  categoryOf,
  sharesIn,
  tokensByBlock,
  toolDifferences,
} from '../../../src/cli/measure/composition.js';
import type { BlockShare } from '../../../src/cli/measure/composition.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';

const sum = (numbers: Iterable<number>): number =>
  Array.from(numbers).reduce((total, number) => total + number, 0);

const weights = fc.array(fc.nat(5_000), { minLength: 1, maxLength: 20 });

/** The shares of a history whose entries have the given weights, cyclically. */
function weighed(history: readonly IContent[], given: readonly number[]): readonly BlockShare[] {
  const places = new Map(history.map((entry, at) => [entry, at]));
  return sharesIn(history, (entry) => given[(places.get(entry) ?? 0) % given.length] ?? 0);
}

describe('sharesIn', () => {
  test('sums up to the weights of its entries, in whole tokens', () => {
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 60 }), weights, (history, given) => {
        const tokens = weighed(history, given).map((share) => share.tokens);
        expect(sum(tokens)).toBe(sum(history.map((_, at) => given[at % given.length] ?? 0)));
        expect(tokens.every(Number.isInteger)).toBe(true);
      }),
    );
  });

  test('has every block, as often as the history has its entry', () => {
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 60 }), weights, (history, given) => {
        const twice = weighed([...history, ...history], given);
        const blocks = history.flatMap((entry) => entry.blocks);
        expect(twice.flatMap(({ block }) => block ?? [])).toEqual([...blocks, ...blocks]);
      }),
    );
  });

  test('attributes the weight of an entry without blocks to no block', () => {
    const shares = sharesIn([{ speaker: 'ai', blocks: [] }], () => 3);
    expect(shares).toEqual([{ block: null, category: 'other', tool: null, tokens: 3 }]);
  });
});

describe('toolDifferences', () => {
  test('has the tokens of all calls and results, and counts every call', () => {
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 60 }), weights, (history, given) => {
        const shares = weighed(history, given);
        const tools = toolDifferences(shares, []);
        const tokensIn = (category: string): number =>
          sum(shares.map((share) => (share.category === category ? share.tokens : 0)));
        expect(sum(tools.map(({ callTokens }) => callTokens))).toBe(tokensIn('tool-call'));
        expect(sum(tools.map(({ resultTokens }) => resultTokens))).toBe(tokensIn('tool-result'));
        expect(sum(tools.map(({ calls }) => calls))).toBe(
          shares.filter(({ block }) => block?.type === 'tool_call').length,
        );
      }),
    );
  });

  test('distinguishes calls and results of a tool, and what is gone of each', () => {
    const call = aiContent([toolCall('1', 'Read', { file_path: 'a' })]);
    const result = toolContent([toolResponse('1', 'Read', 'text')]);
    const before = sharesIn([call, result], (entry) => (entry === call ? 12 : 400));
    const after = sharesIn([call, result], (entry) => (entry === call ? 13 : 30));
    expect(toolDifferences(before, after)).toEqual([
      {
        ...{ tool: 'Read', calls: 1, callTokens: 12, resultTokens: 400 },
        ...{ reclaimedCallTokens: 0, reclaimedResultTokens: 370 },
      },
    ]);
  });
});

describe('tokensByBlock', () => {
  test('splits tokens in proportion to the length of texts', () => {
    const entry = aiContent([
      { type: 'text', text: 'x'.repeat(4_000) },
      { type: 'text', text: 'x'.repeat(12_000) },
    ]);
    expect(tokensByBlock(entry, 400)).toEqual([100, 300]);
  });

  test('splits tokens evenly if no block has a length', () => {
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
