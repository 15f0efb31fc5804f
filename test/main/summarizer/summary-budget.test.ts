// What fits into a request.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  splitIntoPieces,
  summaryBudget,
  wordsOf,
} from '../../../src/main/summarizer/summary-budget.js';

describe('summaryBudget', () => {
  it('leaves room for everything in a request', () => {
    fc.assert(
      fc.property(fc.nat(2_000_000), fc.nat(5_000), (contextLimit, fixedTokens) => {
        const budget = summaryBudget(contextLimit, fixedTokens);
        if (budget === undefined) return;
        const { maxOutputTokens, pieceTokens } = budget;
        // Transcript, previous summary, the fixed parts, and the answer.
        expect(pieceTokens + maxOutputTokens + fixedTokens + maxOutputTokens).toBeLessThanOrEqual(
          contextLimit,
        );
        expect(pieceTokens).toBeGreaterThanOrEqual(512);
        expect(maxOutputTokens).toBeLessThanOrEqual(16_384);
      }),
    );
  });

  it.each([0, 100, -5, NaN])('is none for a window of %d tokens', (contextLimit) => {
    expect(summaryBudget(contextLimit, 10)).toBeUndefined();
  });
});

describe('splitIntoPieces', () => {
  it('keeps all lines in order, and pieces as full as they may be', () => {
    const sizes = fc.array(fc.nat(40), { maxLength: 60, size: 'max' });
    fc.assert(
      fc.property(sizes, (tokens) => {
        const lines = tokens.map((_, at) => String(at));
        const pieces = splitIntoPieces(lines, tokens, 30);
        expect(pieces.flat()).toEqual(lines);
        const totals = pieces.map((piece) =>
          piece.reduce((sum, line) => sum + (tokens[Number(line)] ?? 0), 0),
        );
        totals.forEach((total, at) => {
          if ((pieces[at]?.length ?? 0) > 1) expect(total).toBeLessThanOrEqual(30);
          const next = tokens[Number(pieces[at + 1]?.[0])];
          if (next !== undefined) expect(total + next).toBeGreaterThan(30);
        });
      }),
    );
  });

  it('makes one piece of an empty list', () => {
    expect(splitIntoPieces([], [], 30)).toEqual([[]]);
  });
});

describe('wordsOf', () => {
  it('converts tokens to words, and returns at least a hundred', () => {
    expect(wordsOf(1_000)).toBe(600);
    expect(wordsOf(10)).toBe(100);
  });
});
