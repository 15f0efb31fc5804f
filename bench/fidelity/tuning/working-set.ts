// The current subject of tuning: all numbers of the working set, in sessions with batched edits, the default.

import { DEFAULT_WORKING_SET, AGGRESSIVE_WORKING_SET } from '../../../src/density.js';
import type { WorkingSetRules } from '../../../src/density.js';
import { WORKING_SET_RULE_NAMES } from '../../../src/shared/density/rules/working-set-rules.js';
import { batched } from '../policies.js';
import type { Tunable } from './tune.js';

/** The rules as named numbers. */
type RuleNumbers = { readonly [Name in keyof WorkingSetRules]: number };

export const WORKING_SET: Tunable<RuleNumbers> = {
  shipped: DEFAULT_WORKING_SET,
  starts: [AGGRESSIVE_WORKING_SET],
  names: WORKING_SET_RULE_NAMES,
  policyOf: (rules) => batched('tried', rules),
};
