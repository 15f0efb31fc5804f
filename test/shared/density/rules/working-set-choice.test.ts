// Values of the working-set setting.

import { describe, expect, it } from 'vitest';
import { workingSetOf } from '../../../../src/shared/density/rules/working-set.js';
import {
  AGGRESSIVE_WORKING_SET,
  DEFAULT_WORKING_SET,
} from '../../../../src/shared/density/rules/working-set-rules.js';

describe('workingSetOf', () => {
  it('returns rules by name, or those of the agent', () => {
    const own = { ...DEFAULT_WORKING_SET, readCalls: 1_000 };
    expect(workingSetOf('preset', own)).toBe(own);
    expect(workingSetOf('preset', undefined)).toBeUndefined();
    for (const preset of [own, undefined]) {
      expect(workingSetOf('off', preset)).toBeUndefined();
      expect(workingSetOf('default', preset)).toBe(DEFAULT_WORKING_SET);
      expect(workingSetOf('aggressive', preset)).toBe(AGGRESSIVE_WORKING_SET);
    }
  });
});
