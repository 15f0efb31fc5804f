// Known prices: ids as providers and gateways spell them, and requests above a price step.

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { inputCost, modelPrice } from '../../../src/index.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { ModelPrices } from '../../../src/main/models/model-prices.js';
import { MODEL_PRICES_DATE, priceTable } from '../../../src/main/models/price-table.js';
import type { TokenPrice } from '../../../src/main/models/price-table.js';

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
    ['gemini-2.5-pro-preview-05-06', 'gemini-2.5-pro'],
    ['google/gemini-3.8-flash-preview-09-2026', 'gemini-3.8-flash'],
    ['anthropic/claude-opus-5.5:thinking', 'claude-opus-5-5'],
    ['claude-4.5-sonnet', 'claude-sonnet-4-5'],
    ['openai:gpt-6.2-sol', 'gpt-6.2-sol'],
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
    ['claude-opus-5-5[1m]', 'claude-opus-5-5'],
  ])('%s costs what %s does', (id, name) => {
    expect(modelPrice(id)?.name).toBe(name);
  });

  test.each([
    ['2026-11-30T23:59:59Z', 2, 0.75],
    ['2026-12-01T00:00:00Z', 4, 0.75],
    ['2027-01-01T00:00:00Z', 4, 1.5],
  ])('at %s, applies a promotional price no longer than it is promised', (day, argon, flash) => {
    const prices = priceTable(Date.parse(day));
    expect(prices.get('gemini-4-argon')).toMatchObject({ input: argon, cacheRead: argon / 20 });
    expect(prices.get('gemini-3.8-flash')).toMatchObject({ input: flash, cacheRead: flash / 10 });
  });

  test.each([
    ...['', 'claude-opus-5-6', 'claude-opus-4-51', 'gpt-5.5-mini', 'gpt-5', 'llama-4'],
    ...['x-ai/grok-4.6:free', 'ft:gpt-5.5:us::abc'],
  ])('guesses nothing for %s', (id) => {
    expect(modelPrice(id)).toBeUndefined();
  });
});

describe('ModelPrices', () => {
  const price = (input: number): TokenPrice => ({ input, cacheRead: input, cacheWrite: input });

  test('distinguishes local models by what follows the colon', () => {
    const prices = new ModelPrices({ 'llama4:8b': price(1), 'llama4:70b': price(2) });
    expect([prices.of('llama4:8b')?.input, prices.of('Llama4:70b')?.input]).toEqual([1, 2]);
  });

  test.each([
    ['half a year old', 184, 1],
    ['younger', 182, 0],
  ])('warns once about a table that is %s: after %i days %i times', (_, days, times) => {
    const warn = vi.fn();
    const now = Date.parse(MODEL_PRICES_DATE) + days * 24 * 3_600_000;
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now);
    onTestFinished(() => {
      clock.mockRestore();
    });
    const prices = new ModelPrices({ mine: price(1) }, { ...SILENT_LOGGER, warn });
    prices.of('mine');
    expect(warn).not.toHaveBeenCalled();
    for (let at = 0; at < 2; at += 1) prices.of('gpt-5.5');
    expect(warn).toHaveBeenCalledTimes(times);
  });
});

describe('inputCost', () => {
  test('charges tokens from the cache as read, and the rest as written', () => {
    const price = { name: '', input: 4, cacheRead: 1, cacheWrite: 5 };
    expect(inputCost(price, 1_000_000, 600_000)).toBeCloseTo(0.6 + 2);
  });

  test('charges the whole prompt at the higher price above the step', () => {
    const price = modelPrice('gemini-2.5-pro')!;
    expect(inputCost(price, 200_000, 0)).toBeCloseTo(0.25);
    expect(inputCost(price, 200_001, 0)).toBeCloseTo(0.5, 4);
  });

  test('refuses more tokens from the cache than were sent: the cost would be negative', () => {
    expect(() => inputCost(modelPrice('gemini-2.5-pro')!, 1, 2)).toThrow(RangeError);
  });
});
