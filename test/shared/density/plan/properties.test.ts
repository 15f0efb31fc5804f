// Properties of a density pass over any valid history: laws, and agreement with a naive second implementation of the documented rules.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { generateHistory } from '../../../../bench/support/generate-history.js';
import { hasSubstance } from '../../../../src/shared/content.js';
import type { IContent } from '../../../../src/shared/content.js';
import {
  DEFAULT_DENSITY_CONFIG,
  PRUNED_POINTER,
  isEmptyDensityResult,
} from '../../../../src/shared/density.js';
import type { DensityConfig, DensityResult } from '../../../../src/shared/density.js';
import { optimize, planWithTexts } from '../../../../src/shared/density/plan/optimize.js';
import { DEFAULT_WORKING_SET } from '../../../../src/shared/density/rules/working-set-rules.js';
import { findViolations } from '../../../../src/shared/validity.js';
import { applied, documented, freezeDeep } from '../../../support/applied.js';
import { arbitraryBrokenHistory } from '../../../support/arbitrary-broken-history.js';
import { arbitraryDensityConfig, arbitraryHistory } from '../../../support/arbitrary-history.js';
import { naiveOptimize } from '../../../support/naive-optimize.js';
import { runs, sightings } from '../../../support/scale.js';

const EMPTY: DensityResult = {
  removals: [],
  replacements: new Map(),
  metadata: { readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 },
};

/** Checks a law on random histories and configurations; a failure prints its seed and smallest case. */
function holds(cases: number, law: (history: IContent[], config: DensityConfig) => void): void {
  fc.assert(fc.property(arbitraryHistory(), arbitraryDensityConfig(), law), {
    numRuns: runs(cases),
  });
}

/** The same for invalid histories. */
function holdsWhenBroken(
  cases: number,
  law: (history: IContent[], config: DensityConfig) => void,
): void {
  fc.assert(fc.property(arbitraryBrokenHistory(), arbitraryDensityConfig(), law), {
    numRuns: runs(cases),
  });
}

function countBlocks(
  history: readonly IContent[],
  isCounted: (block: IContent['blocks'][number]) => boolean,
): number {
  return history.flatMap((entry) => entry.blocks).filter(isCounted).length;
}

/** What is sent of an entry: reasoning, and blocks with substance. */
function toldBlocks(blocks: IContent['blocks']): IContent['blocks'] {
  return blocks.filter((block) => block.type === 'thinking' || hasSubstance(block));
}

/** Whether anything is left that the reasoning at a place led to. */
function isLedTo(given: IContent['blocks'], place: number, left: IContent['blocks']): boolean {
  let at = place;
  while (given[at]?.type === 'thinking') at += 1;
  if (at === given.length) return true;
  for (let block = given[at]; block !== undefined && block.type !== 'thinking'; block = given[at]) {
    if (left.includes(block)) return true;
    at += 1;
  }
  return false;
}

describe('optimize', () => {
  it('agrees with the naive implementation', () => {
    holds(5_000, (history, config) => {
      expect(documented(optimize(history, config))).toStrictEqual(naiveOptimize(history, config));
    });
  });

  it('agrees with the naive implementation on broken histories', () => {
    holdsWhenBroken(3_000, (history, config) => {
      expect(documented(optimize(history, config))).toStrictEqual(naiveOptimize(history, config));
    });
  });

  it('adds no violations', () => {
    holdsWhenBroken(2_000, (history, config) => {
      const compacted = applied(history, optimize(history, config));
      expect(findViolations(compacted).length).toBeLessThanOrEqual(findViolations(history).length);
    });
  });

  it('keeps valid histories valid, and never modifies its input', () => {
    holds(3_000, (history, config) => {
      freezeDeep(history);
      const result = freezeDeep(optimize(history, config));
      const compacted = applied(history, result);
      expect(findViolations(compacted, history)).toEqual([]);
      expect(findViolations(structuredClone(compacted), history)).toEqual([]);
    });
  });

  it('lists indices of the history, ascending, each once', () => {
    holds(1_000, (history, config) => {
      const { removals, replacements } = optimize(history, config);
      expect([...removals].sort((a, b) => a - b)).toEqual(removals);
      const indices = [...removals, ...replacements.keys()];
      expect(new Set(indices).size).toBe(indices.length);
      for (const index of indices) expect(history[index]).toBeDefined();
    });
  });

  it('gives equal results for equal histories', () => {
    holds(1_000, (history, config) => {
      const result = optimize(history, config);
      expect(optimize(history, config)).toStrictEqual(result);
      expect(optimize(structuredClone(history), config)).toStrictEqual(result);
    });
  });

  it('finds nothing in its own output', () => {
    holds(2_000, (history, config) => {
      const compacted = applied(history, optimize(history, config));
      expect(documented(optimize(compacted, config))).toStrictEqual(EMPTY);
    });
  });

  it('keeps the objects of unchanged entries', () => {
    holds(1_000, (history, config) => {
      const { replacements } = optimize(history, config);
      for (const [index, replacement] of replacements) {
        const before = history[index];
        expect(replacement.speaker).toBe(before?.speaker);
        expect(replacement.metadata).toBe(before?.metadata);
        for (const block of replacement.blocks) {
          const isKept = before?.blocks.includes(block) === true;
          const isRewritten =
            block.type === 'text' ||
            (block.type === 'tool_response' && block.result === PRUNED_POINTER);
          expect(isKept || isRewritten).toBe(true);
        }
      }
    });
  });

  it('leaves no reasoning without what it led to, and removes no other', () => {
    let taken = 0;
    let kept = 0;
    let behindReasoning = 0;
    holds(3_000, (history, config) => {
      const { removals, replacements } = optimize(history, config);
      for (const [index, { speaker, blocks }] of replacements) {
        if (speaker !== 'ai') continue;
        const before = toldBlocks(history[index]?.blocks ?? []);
        const after = before.filter((block) => blocks.includes(block));
        before.forEach((block, at) => {
          if (block.type !== 'thinking') return;
          const isOrphan = before[at + 1] !== undefined && !isLedTo(before, at, blocks);
          expect(after.includes(block)).toBe(!isOrphan);
          if (isOrphan) taken += 1;
          else kept += 1;
        });
        if (before.at(-1)?.type !== 'thinking') expect(after.at(-1)?.type).not.toBe('thinking');
        after.forEach((block, at) => {
          const next = after[at + 1];
          if (block.type !== 'thinking' || next?.type !== 'thinking') return;
          behindReasoning += 1;
          expect(before[before.indexOf(block) + 1]).toBe(next);
        });
      }
      const edited = new Set([...removals, ...replacements.keys()]);
      const untouched = history.filter((_, at) => !edited.has(at));
      const left = new Set(applied(history, { ...EMPTY, removals, replacements }));
      expect(untouched.every((entry) => left.has(entry))).toBe(true);
    });
    expect(Math.min(taken, kept, behindReasoning)).toBeGreaterThan(sightings(100));
  });

  it('counts what it changed', () => {
    holds(1_000, (history, config) => {
      const result = optimize(history, config);
      const compacted = applied(history, result);
      const lost = (isCounted: (block: IContent['blocks'][number]) => boolean): number =>
        countBlocks(history, isCounted) - countBlocks(compacted, isCounted);
      const { readWritePairsPruned, fileDeduplicationsPruned, recencyPruned } = result.metadata;
      expect(lost((block) => block.type === 'tool_call')).toBe(readWritePairsPruned);
      expect(lost((block) => block.type === 'tool_response')).toBe(readWritePairsPruned);

      const known = new Set(history.flatMap((entry) => entry.blocks));
      const pointers = countBlocks(
        compacted,
        (block) => block.type === 'tool_response' && !known.has(block),
      );
      expect(pointers).toBe(recencyPruned);

      const edited = [...result.replacements.values()].filter(({ speaker }) => speaker === 'human');
      expect(edited.length).toBeLessThanOrEqual(fileDeduplicationsPruned);
      expect(edited.length > 0).toBe(fileDeduplicationsPruned > 0);
      expect(isEmptyDensityResult(result)).toBe(
        readWritePairsPruned + fileDeduplicationsPruned + recencyPruned === 0,
      );
    });
  });

  it('changes nothing with every phase off', () => {
    const off = { readWritePruning: false, fileDedupe: false, recencyPruning: false };
    holds(500, (history, config) => {
      expect(documented(optimize(history, { ...config, ...off }))).toStrictEqual(EMPTY);
    });
  });

  it('finds the same in a long history whether or not its shape is checked, and names an invalid entry', () => {
    const history = generateHistory({ entries: 2_000 });
    const config: DensityConfig = {
      ...DEFAULT_DENSITY_CONFIG,
      ...{ workspaceRoot: '/w', workingSet: DEFAULT_WORKING_SET, shrink: 'default' },
    };
    expect(optimize(history, config).rows).toEqual(planWithTexts(history, config).plan);
    const broken = history.with(1_000, { speaker: 'ai', blocks: 3 as never });
    expect(() => optimize(broken, config)).toThrow(/entry 1000/);
  });

  it('is tested against laws that a careless pass breaks', () => {
    const dropsEveryThird = fc.check(
      fc.property(arbitraryHistory(), (history) => {
        const kept = history.filter((_, at) => at % 3 !== 2);
        expect(findViolations(kept, history)).toEqual([]);
      }),
      { numRuns: runs(100) },
    );
    expect(dropsEveryThird.failed).toBe(true);
  });
});
