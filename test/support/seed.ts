// Runs ahead of each test file: gives all properties the seed of the run.

import fc from 'fast-check';
import { TEST_SEED } from './scale.js';

if (TEST_SEED !== undefined) fc.configureGlobal({ seed: TEST_SEED });
