// The costs of requests, for contexts whose entries have a known number of tokens.

import { describe, expect, it } from 'vitest';
import {
  CACHE_LIFETIME_MS,
  CACHE_READ_PRICE,
  ContextMeter,
  inputCostAt,
  TAIL_TOKENS,
} from '../../../bench/fidelity/context-meter.js';
import type { RequestFigures } from '../../../bench/fidelity/context-meter.js';
import { estimateEntryTokens } from '../../../src/index.js';
import type { IContent } from '../../../src/index.js';

/** An entry of `tokens` tokens. */
function weighing(tokens: number): IContent {
  const of = (length: number): IContent => {
    return {
      speaker: 'tool',
      blocks: [{ type: 'text', text: ' aaa'.repeat(length).slice(0, length) }],
    };
  };
  let length = 4 * tokens;
  while (estimateEntryTokens(of(length)) > tokens) length -= 1;
  expect(estimateEntryTokens(of(length))).toBe(tokens);
  return of(length);
}

function figuresOf(...contexts: readonly (readonly IContent[])[]): RequestFigures {
  const meter = new ContextMeter();
  for (const context of contexts) meter.send(context);
  return meter.figures;
}

const [first, second, third, fourth] = [1_000, 200, 300, 400].map(weighing) as [
  IContent,
  IContent,
  IContent,
  IContent,
];

describe('ContextMeter', () => {
  it('reads the common prefix with the previous call from the cache, and writes the rest', () => {
    expect(figuresOf([first], [first, second], [first, second, third])).toEqual({
      modelCalls: 3,
      tokens: 1_000 + 1_200 + 1_500,
      cacheRewrites: 0,
      prefixChanges: 0,
      rewrittenTokens: 0,
      inputCost: 1.25 * 1_000 + (100 + 1.25 * 200) + (120 + 1.25 * 300),
      warmTokens: 1_000 + 1_200,
      coldTokens: 0,
    });
  });

  it('writes everything behind a change, and counts the entries added with it as new', () => {
    const replaced = weighing(50);
    const figures = figuresOf([first, second, third], [first, replaced, third, fourth]);
    expect(figures).toMatchObject({ prefixChanges: 1, cacheRewrites: 0, rewrittenTokens: 300 });
    expect(figures.inputCost).toBe(1.25 * 1_500 + 100 + 1.25 * (50 + 300 + 400));
  });

  it('recognizes a changed last entry, and entries removed from the end', () => {
    expect(figuresOf([first, second], [first, third])).toMatchObject({ prefixChanges: 1 });
    expect(figuresOf([first, second], [first])).toMatchObject({
      prefixChanges: 1,
      rewrittenTokens: 0,
    });
  });

  it.each([
    [TAIL_TOKENS, 0],
    [TAIL_TOKENS + 1, 1],
  ])('counts a change %i tokens before the end of what was sent as %i rewrites', (tail, count) => {
    const changed = weighing(tail - 300);
    // New entries behind the end do not make a change deeper.
    const after = [first, third, weighing(TAIL_TOKENS)];
    const figures = figuresOf([first, changed, third], after);
    expect(figures).toMatchObject({ prefixChanges: 1, cacheRewrites: count });
  });

  it('continues from the last sent context', () => {
    const figures = figuresOf([first, second, third], [first, third], [first, third, fourth]);
    expect(figures).toMatchObject({ prefixChanges: 1, rewrittenTokens: 300 });
    expect(figures.inputCost).toBe(1.25 * 1_500 + (100 + 1.25 * 300) + (130 + 1.25 * 400));
  });
});

describe('inputCostAt', () => {
  const meter = new ContextMeter();
  meter.send([first]);
  meter.send([first, second], CACHE_LIFETIME_MS);
  meter.send([first, second, third], CACHE_LIFETIME_MS + 1);
  const { figures } = meter;

  it('equals the cost of the meter at its own price, when no cache expires', () => {
    expect(inputCostAt(figures, CACHE_READ_PRICE, false)).toBeCloseTo(figures.inputCost, 6);
  });

  it('charges the common prefix of a call at the price of a cache read', () => {
    expect(inputCostAt(figures, 0.05, false)).toBe(0.05 * 2_200 + 1.25 * 1_500);
  });

  it('charges everything as written after a gap in which the cache expired', () => {
    expect(inputCostAt(figures, 0.05, true)).toBe(0.05 * 1_000 + 1.25 * (1_500 + 1_200));
  });
});
