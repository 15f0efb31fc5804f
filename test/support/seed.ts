// Runs ahead of each test file: gives all properties the seed of the run, and its share of cases to those that name no number.
// Keeps plugins from the state folder of whoever runs the tests.

import { devNull } from 'node:os';

import fc from 'fast-check';
import { runs, TEST_SEED } from './scale.js';

fc.configureGlobal({
  numRuns: runs(100),
  ...(TEST_SEED !== undefined && { seed: TEST_SEED }),
});

process.env['XDG_STATE_HOME'] = devNull;
