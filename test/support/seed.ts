// Runs before each test file: sets the run's seed for all properties, and its number of cases for those without one. Keeps
// plugins out of the user's state folder.

import { devNull } from 'node:os';

import fc from 'fast-check';
import { runs, TEST_SEED } from './scale.js';

fc.configureGlobal({
  numRuns: runs(100),
  ...(TEST_SEED !== undefined && { seed: TEST_SEED }),
});

process.env['XDG_STATE_HOME'] = devNull;
