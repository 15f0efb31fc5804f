// What is known of prices: ids as providers and gateways spell them, and requests over a price step.

import { describe, expect, test } from 'vitest';
import { inputCost, modelPrice } from '../../../src/index.js';

describe('modelPrice', () => {
  test.each([
    ['claude-opus-4-5', 'claude-opus-4-5'],
    ['claude-opus-4-5-20251101', 'claude-opus-4-5'],
    ['us.anthropic.claude-opus-5-5-20260801-v1:0', 'claude-opus-5-5'],
    ['anthropic/claude-sonnet-5', 'claude-sonnet-5'],
    ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
    ['GPT-5.5', 'gpt-5.5'],
    ['openai/gpt-6-sol-2026-10-01', 'gpt-6-sol'],
    ['gemini-2.5-pro-latest', 'gemini-2.5-pro'],
  ])('%s costs what %s does', (id, name) => {
    expect(modelPrice(id)?.name).toBe(name);
  });

  test.each(['', 'claude-opus-5-6', 'claude-opus-4-51', 'gpt-5.5-mini', 'gpt-5', 'llama-4'])(
    'of %s nothing is guessed',
    (id) => {
      expect(modelPrice(id)).toBeUndefined();
    },
  );
});

describe('inputCost', () => {
  test('charges what the cache answers as read, and the rest as written', () => {
    const price = { name: '', input: 4, cacheRead: 1, cacheWrite: 5 };
    expect(inputCost(price, 1_000_000, 600_000)).toBeCloseTo(0.6 + 2);
  });

  test('charges all of a prompt above the step by the price above it', () => {
    const price = modelPrice('gemini-2.5-pro')!;
    expect(inputCost(price, 200_000, 0)).toBeCloseTo(0.25);
    expect(inputCost(price, 200_001, 0)).toBeCloseTo(0.5, 4);
  });
});
