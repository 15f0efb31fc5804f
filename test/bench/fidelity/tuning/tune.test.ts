// Checks on the fixture sessions that tuning finds no better numbers than the shipped ones, and that it would reject bad
// ones.

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { workingSet } from '../../../../bench/fidelity/policies.js';
import type { Policy } from '../../../../bench/fidelity/policy.js';
import { loadSessions } from '../../../../bench/fidelity/load-sessions.js';
import { tuningTable, tuningVerdict } from '../../../../bench/fidelity/tuning/render-tuning.js';
import { lossOf, tune } from '../../../../bench/fidelity/tuning/tune.js';
import { WORKING_SET } from '../../../../bench/fidelity/tuning/working-set.js';
import { DEFAULT_WORKING_SET } from '../../../../src/density.js';
import { findSessionFiles } from '../../../../src/cli/replay/session-files.js';
import type { WorkingSetRules } from '../../../../src/density.js';
import { PLAYS_ALL, sample } from '../../../support/scale.js';

const FIXTURES = path.resolve(import.meta.dirname, '../../../fixtures/transcripts');
const SPLITS = 2;

const { files } = await findSessionFiles(FIXTURES);
const recordings = files.filter((file) => /\.(jsonl?|traj)$/.test(file));
const { contexts } = await loadSessions(sample(recordings, 4));

describe('tune', () => {
  const report = tune(contexts, WORKING_SET, SPLITS);

  it('finds no numbers that are better than the shipped ones by more than the spread', () => {
    expect(tuningVerdict(report, WORKING_SET.shipped)).toContain(
      'The shipped numbers hold: nothing found is better by more than the spread.',
    );
    expect(report.isRefused).toBe(false);
  });

  it('rejects bad numbers: results that are removed after a call, whatever the cache holds', () => {
    const wrong = { readCalls: 1, paybackCalls: 1_000, freeTokens: 1 };
    const shipped = { ...DEFAULT_WORKING_SET, ...wrong };
    const names = WORKING_SET.names.filter((name) => name in wrong);
    // With edits applied at once: the budget of sessions for edits would prevent most of the harm.
    const policyOf = (numbers: WorkingSetRules): Policy => workingSet('tuned', numbers);
    const refused = tune(contexts, { ...WORKING_SET, shipped, names, policyOf }, SPLITS);
    expect(refused.gain).toBeGreaterThan(0.1);
    // With few sessions, the spread is too large to reject anything.
    expect(refused.isRefused || !PLAYS_ALL).toBe(true);
  });

  it('reports the fitted numbers and their results on both halves', () => {
    const { title, subtitle, rows } = tuningTable(report);
    expect(`${title}: ${subtitle}`).toBe(
      'Tuning: 7 numbers fitted on half of the sessions, over 2 splits',
    );
    expect(rows).toHaveLength(4 * SPLITS);
    for (const { numbers, tuned, shipped } of report.splits) {
      expect(Object.keys(numbers).sort()).toEqual(Object.keys(DEFAULT_WORKING_SET).sort());
      expect(lossOf([tuned.fitted])).toBeLessThanOrEqual(lossOf([shipped.fitted]));
    }
  });
});
