// The tokens of an entry and its parts, compared with counting the entry again without the part.

import fc from 'fast-check';
import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { describe, expect, it } from 'vitest';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { PRUNED_POINTER } from '../../../src/shared/density.js';
import { BytePairCounter } from '../../../src/shared/tokens/byte-pair-counter.js';
import { countEntryTokens, measureEntries } from '../../../src/shared/tokens/count-tokens.js';
import type { CountText } from '../../../src/shared/tokens/count-tokens.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { countThirds } from '../../support/piece-counters.js';
import { runs } from '../../support/scale.js';
import { arrangeTokens } from '../../../bench/support/arrange-tokens.js';

const { count: countO200k } = new BytePairCounter(arrangeTokens(tokens));

function holds(cases: number, law: (entry: IContent) => void): void {
  fc.assert(
    fc.property(arbitraryHistory({ maxEntries: 40 }), (history) => {
      history.forEach(law);
    }),
    { numRuns: runs(cases) },
  );
}

/** The tokens of one entry, and by block. */
function measured(entry: IContent, count: CountText) {
  const { tokens, blocks, results } = measureEntries([entry], count);
  return { tokens: tokens[0] ?? 0, blocks: [...blocks], results: [...results] };
}

function withBlocks(entry: IContent, blocks: readonly ContentBlock[]): IContent {
  return { ...entry, blocks };
}

describe.each<[string, CountText, number]>([
  ['a stand-in counter', countThirds, 500],
  ['o200k', countO200k, 40],
])('measureEntries with %s', (_, count, cases) => {
  it('returns the count of the entry', () => {
    holds(cases, (entry) => {
      expect(measured(entry, count).tokens).toBe(countEntryTokens(entry, count));
    });
  });

  it('returns for each block what the entry loses with it', () => {
    holds(cases, (entry) => {
      const { tokens, blocks } = measured(entry, count);
      const losses = entry.blocks.map((_block, at) => {
        const others = entry.blocks.toSpliced(at, 1);
        return tokens - countEntryTokens(withBlocks(entry, others), count);
      });
      expect(blocks).toEqual(losses);
    });
  });

  it('returns for each response what the entry loses with its result, and 0 for other blocks', () => {
    let responses = 0;
    holds(cases, (entry) => {
      const { tokens, results } = measured(entry, count);
      const losses = entry.blocks.map((block, at) => {
        if (block.type !== 'tool_response') return 0;
        responses += 1;
        const pruned = { ...block, result: PRUNED_POINTER };
        delete pruned.mediaTokens;
        const after = countEntryTokens(withBlocks(entry, entry.blocks.with(at, pruned)), count);
        return tokens - after + count(PRUNED_POINTER);
      });
      expect(results).toEqual(losses);
    });
    expect(responses).toBeGreaterThan(runs(cases));
  });

  it('counts only entries whose tokens are not known, each by itself', () => {
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 40 }), fc.nat(3), (history, period) => {
        const known = Int32Array.from(history, (_, at) => (at % 4 === period ? at : -1));
        const all = measureEntries(history, count, known);
        const none = measureEntries(history, undefined, known);
        expect(none.tokens).toEqual(known);
        expect([...none.blocks, ...none.results].every((tokens) => tokens === -1)).toBe(true);
        let first = 0;
        for (const [at, entry] of history.entries()) {
          const end = first + entry.blocks.length;
          const unknown = entry.blocks.map(() => -1);
          const isKnown = known[at] !== -1;
          const one = isKnown
            ? { tokens: at, blocks: unknown, results: unknown }
            : measured(entry, count);
          expect({
            tokens: all.tokens[at],
            blocks: [...all.blocks.subarray(first, end)],
            results: [...all.results.subarray(first, end)],
          }).toEqual(one);
          first = end;
        }
      }),
      { numRuns: runs(cases) },
    );
  });
});
