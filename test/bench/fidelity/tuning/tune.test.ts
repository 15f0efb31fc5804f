// Whether the shipped numbers are what honest tuning finds, on the sessions that come with the project; and whether
// wrong ones would be seen.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSessions } from '../../../../bench/fidelity/load-sessions.js';
import { renderTable } from '../../../../bench/fidelity/render.js';
import { tuningTable, tuningVerdict } from '../../../../bench/fidelity/tuning/render-tuning.js';
import { lossOf, tune } from '../../../../bench/fidelity/tuning/tune.js';
import { WORKING_SET } from '../../../../bench/fidelity/tuning/working-set.js';
import { DEFAULT_WORKING_SET } from '../../../../src/index.js';

const FIXTURES = path.resolve(import.meta.dirname, '../../../fixtures/transcripts');
/** Those with a session that is long enough for a batch. */
const LONG = ['claude-code', 'codex', 'mini-swe-agent'];
const SPLITS = 4;

const files = LONG.flatMap((folder) =>
  readdirSync(path.join(FIXTURES, folder)).map((file) => path.join(FIXTURES, folder, file)),
);
const { contexts } = await loadSessions(files);

describe('tune', () => {
  const report = tune(contexts, WORKING_SET, SPLITS);

  it('finds no numbers that are better than the shipped ones by more than the spread', () => {
    expect(tuningVerdict(report, DEFAULT_WORKING_SET)).toContain(
      'The shipped numbers hold: nothing found is better by more than the spread.',
    );
    expect(report.isRefused).toBe(false);
  });

  it('refuses numbers that are wrong', () => {
    const wrong = {
      ...DEFAULT_WORKING_SET,
      readLease: 1_000,
      outputLease: 1_000,
      searchLease: 1_000,
    };
    const refused = tune(contexts, { ...WORKING_SET, shipped: wrong }, SPLITS);
    expect(refused.isRefused).toBe(true);
    expect(refused.gain).toBeGreaterThan(refused.spread);
  });
});
