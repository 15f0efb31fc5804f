// The random histories of other tests are valid and not all short.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { IContent } from '../../src/shared/content.js';
import { findViolations } from '../../src/shared/validity.js';
import { arbitraryHistory } from './arbitrary-history.js';
import { length, runs } from './scale.js';

describe('arbitraryHistory', () => {
  it('gives valid histories', () => {
    fc.assert(
      fc.property(arbitraryHistory(), (history) => {
        expect(findViolations(history)).toEqual([]);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('gives short, long and very long ones up to the maximum', () => {
    const lengths = fc
      .sample(arbitraryHistory(), 200)
      .map((history) => history.length)
      .sort((a, b) => a - b);
    const at = (share: number): number => lengths[Math.floor(share * lengths.length)] ?? 0;
    expect(lengths[0]).toBeLessThanOrEqual(1);
    expect(at(0.5)).toBeGreaterThan(5);
    expect(at(0.97)).toBeGreaterThan(length(300) / 3);
    expect(lengths.at(-1)).toBeLessThanOrEqual(length(300));
  });

  it('gives open calls, parallel calls, repeated ids, failures, pictures and opaque blocks', () => {
    const blocks = fc
      .sample(arbitraryHistory(), 100)
      .map((history) => history.flatMap((entry) => entry.blocks));
    const idsOf = (of: IContent['blocks'], type: 'tool_call' | 'tool_response'): string[] =>
      of.flatMap((block) =>
        block.type !== type ? [] : block.type === 'tool_call' ? [block.id] : [block.callId],
      );
    const isOpen = (of: IContent['blocks']): boolean =>
      idsOf(of, 'tool_call').length > idsOf(of, 'tool_response').length;
    const hasRepeatedId = (of: IContent['blocks']): boolean =>
      new Set(idsOf(of, 'tool_call')).size < idsOf(of, 'tool_call').length;
    expect(blocks.some(isOpen)).toBe(true);
    expect(blocks.some(hasRepeatedId)).toBe(true);
    expect(blocks.flat().some((block) => block.type === 'media')).toBe(true);
    expect(blocks.flat().some((block) => block.type === 'opaque')).toBe(true);
    const responses = blocks.flat().filter((block) => block.type === 'tool_response');
    expect(responses.some(({ error }) => error !== undefined)).toBe(true);
    expect(responses.some(({ mediaTokens = 0 }) => mediaTokens > 0)).toBe(true);
  });
});
