// What reasoning leads to: single entries in the mini-notation, and laws for any entry.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { hasSubstance } from '../../../../src/shared/content.js';
import type { ContentBlock } from '../../../../src/shared/content.js';
import {
  findReasoning,
  orphanedReasoning,
} from '../../../../src/shared/density/plan/materialize.js';
import { historyOf } from '../../../support/notation.js';
import { runs, sightings } from '../../../support/scale.js';

function blocksOf(notation: string): readonly ContentBlock[] {
  return historyOf(notation)[0]?.blocks ?? [];
}

const anyBlocks = fc
  .array(fc.constantFrom('*s1', '*', '_', 'okay', '`x`', '``', 'r1', 's2', '%'), {
    maxLength: 12,
    size: 'max',
  })
  .map((blocks) => blocksOf(`a:${blocks.join(',')}`));

describe('findReasoning', () => {
  it.each([
    ['no reasoning', 'a:okay,r1', []],
    ['reasoning and a call', 'a:*,r1', [{ reasoning: [0], ledTo: [1] }]],
    ['what is in front of it', 'a:okay,*,r1', [{ reasoning: [1], ledTo: [2] }]],
    ['several thoughts in a row', 'a:*,*,r1', [{ reasoning: [0, 1], ledTo: [2] }]],
    ['a blank between thoughts', 'a:*,_,*,r1', [{ reasoning: [0, 2], ledTo: [3] }]],
    ['a blank behind thoughts', 'a:*,_,r1,_', [{ reasoning: [0], ledTo: [2] }]],
    ['reasoning at the end', 'a:r1,*', [{ reasoning: [1], ledTo: [] }]],
    [
      'reasoning between calls',
      'a:*,r1,s2,*,s3',
      [
        { reasoning: [0], ledTo: [1, 2] },
        { reasoning: [3], ledTo: [4] },
      ],
    ],
  ])('finds %s', (_, notation, expected) => {
    expect(findReasoning(blocksOf(notation))).toEqual(expected);
  });

  it('finds all reasoning, and everything behind it, once and in order', () => {
    fc.assert(
      fc.property(anyBlocks, (blocks) => {
        const first = blocks.findIndex(({ type }) => type === 'thinking');
        const expected = blocks.flatMap((block, at) =>
          first !== -1 && at >= first && (block.type === 'thinking' || hasSubstance(block))
            ? [at]
            : [],
        );
        const named = findReasoning(blocks).flatMap(({ reasoning, ledTo }) => [
          ...reasoning,
          ...ledTo,
        ]);
        expect(named).toEqual(expected);
      }),
      { numRuns: runs(2_000) },
    );
  });
});

describe('orphanedReasoning', () => {
  it('removes nothing if nothing is dropped', () => {
    fc.assert(
      fc.property(anyBlocks, (blocks) => {
        expect(orphanedReasoning(blocks, () => false)).toEqual([]);
      }),
    );
  });

  it('leaves reasoning last, or in front of reasoning, only where it was so before', () => {
    const marks = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });
    let orphans = 0;
    fc.assert(
      fc.property(anyBlocks, marks, (blocks, dropped) => {
        const isDropped = (at: number): boolean =>
          dropped[at] === true && blocks[at]?.type !== 'thinking';
        const gone = orphanedReasoning(blocks, isDropped);
        expect(gone.every((at) => blocks[at]?.type === 'thinking')).toBe(true);
        orphans += gone.length;
        const substantial = (places: readonly number[]): readonly number[] =>
          places.filter((at) => blocks[at]?.type === 'thinking' || isSaid(blocks[at]));
        const all = blocks.map((_, at) => at);
        const before = substantial(all);
        const after = substantial(all.filter((at) => !isDropped(at) && !gone.includes(at)));
        after.forEach((at, place) => {
          if (blocks[at]?.type !== 'thinking') return;
          const next = after[place + 1];
          if (next !== undefined && blocks[next]?.type !== 'thinking') return;
          expect(next).toBe(before[before.indexOf(at) + 1]);
        });
      }),
      { numRuns: runs(3_000) },
    );
    expect(orphans).toBeGreaterThan(sightings(500));
  });
});

function isSaid(block: ContentBlock | undefined): boolean {
  return block !== undefined && hasSubstance(block);
}
