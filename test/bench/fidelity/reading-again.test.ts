// The price of repeated reads.

import { describe, expect, it } from 'vitest';
import { ReadingAgain, STAY_CALLS } from '../../../bench/fidelity/reading-again.js';
import { estimateEntryTokens } from '../../../src/index.js';
import type { ContentBlock } from '../../../src/index.js';

const [old, newest] = ['old', 'new'].map((callId): ContentBlock => {
  return { type: 'tool_response', callId, toolName: 'Read', result: 'x'.repeat(4_000) };
}) as [ContentBlock, ContentBlock];
const TOKENS = estimateEntryTokens({ speaker: 'tool', blocks: [newest] });

describe('ReadingAgain', () => {
  it('charges one more call, and the newest source while it stays', () => {
    const reading = new ReadingAgain();
    reading.pay([old, newest], 5, 100, 30_000);
    expect(reading.figures.readAgain).toBe(1);
    expect(reading.figures.readAgainTokens).toBe(30_000 + STAY_CALLS * TOKENS);
    expect(reading.figures.readAgainCost).toBeCloseTo(
      0.1 * 30_000 + 1.25 * TOKENS + 0.1 * (STAY_CALLS - 1) * TOKENS,
    );
  });

  it('charges nothing more while the repeated read is in the context', () => {
    const reading = new ReadingAgain();
    reading.pay([newest], 5, 100, 0);
    reading.pay([newest, old], 5 + STAY_CALLS - 1, 100, 0);
    expect(reading.figures.readAgain).toBe(1);
    reading.pay([newest], 5 + STAY_CALLS, 100, 0);
    expect(reading.figures.readAgain).toBe(2);
  });

  it('charges no calls behind the last one', () => {
    const reading = new ReadingAgain();
    reading.pay([newest], 5, 1, 0);
    expect(reading.figures.readAgainTokens).toBe(TOKENS);
  });
});
