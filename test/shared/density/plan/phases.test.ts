// How the phases of a density pass combine: their order, and which of two edits of an entry wins.

import { describe, expect, it } from 'vitest';

import { applyDensityResult, DEFAULT_DENSITY_CONFIG } from '../../../../src/shared/density.js';
import type { DensityResultMetadata } from '../../../../src/shared/density.js';
import { optimize } from '../../../../src/shared/density/plan/optimize.js';
import { describeHistory, historyOf } from '../../../support/notation.js';

interface Outcome {
  readonly history: string;
  readonly counts: DensityResultMetadata;
}

/** The result of a pass with all phases on, keeping that many results of each tool. */
function outcome(notation: string, recencyRetention: number): Outcome {
  const history = historyOf(notation);
  const result = optimize(history, {
    ...DEFAULT_DENSITY_CONFIG,
    workspaceRoot: '/work',
    recencyPruning: true,
    recencyRetention,
  });
  applyDensityResult(history, result);
  return { history: describeHistory(history), counts: result.metadata };
}

function counts(pairs: number, inclusions: number, results: number): DensityResultMetadata {
  return {
    readWritePairsPruned: pairs,
    fileDeduplicationsPruned: inclusions,
    recencyPruned: results,
  };
}

describe('optimize with all phases on', () => {
  it.each([
    ['all of two results at a retention of three', 'a:s1 t:s1 a:s2 t:s2', counts(0, 0, 0)],
    [
      'all of three results of each of two tools',
      'a:s1,s2,s3,g4,g5,g6 t:s1,s2,s3,g4,g5,g6',
      counts(0, 0, 0),
    ],
  ])('keeps %s', (_, notation, expected) => {
    expect(outcome(notation, 3)).toEqual({ history: notation, counts: expected });
  });

  it('replaces all but the newest three of five results', () => {
    expect(outcome('a:s1,s2,s3,s4,s5 t:s1,s2,s3,s4,s5', 3)).toEqual({
      history: 'a:s1,s2,s3,s4,s5 t:s1~,s2~,s3,s4,s5',
      counts: counts(0, 0, 2),
    });
  });

  it('edits inclusions and results at once, in separate entries', () => {
    expect(outcome('h:see+@a.ts a:s1 t:s1 h:@a.ts a:s2 t:s2', 1)).toEqual({
      history: 'h:"see\\n" a:s1 t:s1~ h:@a.ts a:s2 t:s2',
      counts: counts(0, 1, 1),
    });
  });

  it('removes a stale response that recency would replace, and counts it once', () => {
    expect(outcome('a:r1 t:r1 a:w2 t:w2 a:r3(b.ts) t:r3', 1)).toEqual({
      history: 'a:w2 t:w2 a:r3(b.ts) t:r3',
      counts: counts(1, 0, 0),
    });
  });

  it('drops a stale response from an entry in which recency replaces another', () => {
    expect(outcome('a:r1,s2 t:r1,s2 a:w3 t:w3 a:s4 t:s4', 1)).toEqual({
      history: 'a:s2 t:s2~ a:w3 t:w3 a:s4 t:s4',
      counts: counts(1, 0, 1),
    });
  });

  it('does not count a response that leaves among the newest', () => {
    expect(outcome('a:r1(b.ts) t:r1 a:r2 t:r2 a:w3 t:w3', 1)).toEqual({
      history: 'a:r1(b.ts) t:r1 a:w3 t:w3',
      counts: counts(1, 0, 0),
    });
  });
});
