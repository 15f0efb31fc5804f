// The benchmarks' synthetic sessions are realistic and deterministic.

import { describe, expect, it } from 'vitest';

import { generateHistory } from '../../bench/support/generate-history.js';
import { isToolCallBlock } from '../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG } from '../../src/shared/density.js';
import { optimize } from '../../src/shared/density/plan/optimize.js';
import { findViolations } from '../../src/shared/validity.js';

describe('generateHistory', () => {
  const history = generateHistory({ entries: 2_000 });

  it('gives as many entries as asked for, at about 1.9 kB each', () => {
    expect(history).toHaveLength(2_000);
    const bytesPerEntry = JSON.stringify(history).length / history.length;
    expect(bytesPerEntry).toBeGreaterThan(1_800);
    expect(bytesPerEntry).toBeLessThan(2_000);
  });

  it('gives valid histories, wherever they end', () => {
    for (let entries = 0; entries < 60; entries += 1) {
      expect(findViolations(generateHistory({ entries }))).toEqual([]);
    }
    expect(findViolations(history)).toEqual([]);
  });

  it('gives the same session for the same seed, and another one for another', () => {
    expect(generateHistory({ entries: 50, seed: 7 })).toEqual(
      generateHistory({ entries: 50, seed: 7 }),
    );
    expect(generateHistory({ entries: 50, seed: 7 })).not.toEqual(
      generateHistory({ entries: 50, seed: 8 }),
    );
  });

  it('has about as many superseded reads as recorded sessions with edits', () => {
    const calls = history.flatMap(({ blocks }) => blocks.filter(isToolCallBlock));
    const { metadata } = optimize(history, { ...DEFAULT_DENSITY_CONFIG, workspaceRoot: '/work' });
    const share = metadata.readWritePairsPruned / calls.length;
    expect(share).toBeGreaterThan(0.12);
    expect(share).toBeLessThan(0.28);
  });

  it('includes a file in every twentieth turn', () => {
    const asked = history.filter((entry) => entry.speaker === 'human');
    const including = asked.filter((entry) => JSON.stringify(entry).includes('End of content'));
    expect(including.length).toBe(Math.floor(asked.length / 20));
  });
});
