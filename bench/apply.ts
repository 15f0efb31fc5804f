// Applying an edit with many removals.

import { applyDensityResult } from '../src/density.js';
import type { DensityResult } from '../src/density.js';
import { check } from './support/check.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { historyOf, runsFor } from './support/sessions.js';
import { medianMs } from './support/timing.js';

const MOST_REMOVALS = 1_000;

export function measureApply({ sizes, cloneMs }: ScopeContext): ScopeResult {
  const measurements: Measurement[] = [];
  const goals: Goal[] = [];
  for (const entries of sizes) {
    const history = historyOf(entries);
    const removals = Math.min(MOST_REMOVALS, entries / 2);
    const every = entries / removals;
    const result: DensityResult = {
      removals: Array.from({ length: removals }, (_, at) => Math.floor(at * every)),
      replacements: new Map(),
      metadata: { readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 },
    };
    const removed = new Set(result.removals);
    const expected = history.filter((_, index) => !removed.has(index));
    const runs = runsFor(entries, 100);
    const value = medianMs({ runs, prepare: () => [...history] }, (copy) => {
      applyDensityResult(copy, result);
      check(copy.length === expected.length, 'the edited history has another length');
      check(copy.at(-1) === expected.at(-1), 'the edited history has other entries');
    });
    const copy = [...history];
    applyDensityResult(copy, result);
    check(
      copy.every((entry, at) => entry === expected[at]),
      'the edited history has other entries',
    );
    const name = `applyDensityResult, ${removals.toLocaleString('en')} removals`;
    measurements.push({ scope: 'apply', name, entries, value, unit: 'ms', runs });
    if (entries >= 10_000) {
      const of = `of one clone (${entries.toLocaleString('en')})`;
      goals.push({ name: `${name}, ${of}`, value: value / cloneMs(entries), limit: 0.02 });
    }
  }
  return { measurements, goals };
}
