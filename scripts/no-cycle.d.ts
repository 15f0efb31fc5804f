// Types of the rule, for its test.

import type { Rule } from 'eslint';

export const noCycle: Rule.RuleModule;
