// One density pass on the calling thread: warm (back to back) and cold (as after seconds of other work).

import { applyDensityResult, isEmptyDensityResult, optimize } from '../src/density.js';
import { findViolations } from '../src/validate.js';
import type { IContent } from '../src/index.js';
import type { DensityResult } from '../src/density.js';
import { naiveOptimize } from '../test/support/naive-optimize.js';
import { check, checkSameHistory } from './support/check.js';
import { valueOf } from './support/measurement.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { CONFIG, historyOf, runsFor } from './support/sessions.js';
import { medianMs } from './support/timing.js';

const COLD = 'optimize, cold';
const WARM = 'optimize, warm';

/** The naive pass takes quadratic time. */
const ENTRIES_CHECKED_NAIVELY = 1_000;

export function measureDensity({ sizes, cloneMs }: ScopeContext): ScopeResult {
  const measurements: Measurement[] = [];
  for (const entries of sizes) {
    const history = historyOf(entries);
    checkPass(history);
    const expected = optimize(history, CONFIG).metadata;
    for (const isCold of [false, true]) {
      // Emptying the caches takes ten times as long as a pass.
      const runs = runsFor(entries, isCold ? 15 : 40);
      const value = medianMs({ runs, isCold, prepare: () => history }, (input) => {
        const { metadata } = optimize(input, CONFIG);
        check(
          metadata.readWritePairsPruned === expected.readWritePairsPruned,
          'a repeated pass had another result',
        );
      });
      const name = isCold ? COLD : WARM;
      measurements.push({ scope: 'density', name, entries, value, unit: 'ms', runs });
    }
  }
  return { measurements, goals: goalsOf(measurements, cloneMs) };
}

function goalsOf(measurements: readonly Measurement[], cloneMs: ScopeContext['cloneMs']): Goal[] {
  return [WARM, COLD].flatMap((name) => {
    const middle = valueOf(measurements, name, 10_000);
    const large = valueOf(measurements, name, 100_000);
    if (middle === undefined) return [];
    const goal = { name: `${name}, of one clone (10,000)`, value: middle / cloneMs(10_000) };
    const growth = { name: `${name}, 100,000 entries for 10,000`, value: (large ?? 0) / middle };
    return [{ ...goal, limit: 0.1 }, ...(large === undefined ? [] : [{ ...growth, limit: 13 }])];
  });
}

function checkPass(history: readonly IContent[]): void {
  const start = history.slice(0, ENTRIES_CHECKED_NAIVELY);
  checkSameHistory(
    applied(start, optimize(start, CONFIG)),
    applied(start, naiveOptimize(start, CONFIG)),
    'a pass and the naive one',
  );
  const result = optimize(history, CONFIG);
  check(result.metadata.readWritePairsPruned > 0, 'nothing was pruned');
  const compacted = applied(history, result);
  check(findViolations(compacted, history).length === 0, 'the pass left an invalid history');
  check(isEmptyDensityResult(optimize(compacted, CONFIG)), 'a second pass found something');
}

function applied(history: readonly IContent[], result: DensityResult): readonly IContent[] {
  const compacted = [...history];
  applyDensityResult(compacted, result);
  return compacted;
}
