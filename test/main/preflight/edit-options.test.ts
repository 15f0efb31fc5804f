// The options for when edits land: their defaults, and what is refused.

import { describe, expect, it } from 'vitest';

import { completeEditOptions, EDIT_CHECKS } from '../../../src/main/preflight/edit-options.js';
import { readOptions } from '../../../src/shared/misuse.js';

describe('completeEditOptions', () => {
  it('fills in the defaults, and keeps given values', () => {
    const defaults = {
      edits: 'every-turn',
      minReclaimTokens: undefined,
      cacheTtlMs: undefined,
      reasoning: undefined,
    };
    expect(completeEditOptions({})).toEqual(defaults);
    expect(completeEditOptions({ edits: undefined })).toEqual(defaults);
    const given = {
      edits: 'at-birth',
      minReclaimTokens: 0,
      cacheTtlMs: Infinity,
      reasoning: 'forbid-edits',
    } as const;
    expect(completeEditOptions(given)).toEqual(given);
  });
});

describe('EDIT_CHECKS', () => {
  it.each([
    ['edits', 'never', RangeError],
    ['edits', 1, TypeError],
    ['reasoning', 'drop', RangeError],
    ['reasoning', null, TypeError],
    ['minReclaimTokens', -1, RangeError],
    ['minReclaimTokens', NaN, RangeError],
    ['minReclaimTokens', '20k', TypeError],
    ['cacheTtlMs', -1, RangeError],
    ['cacheTtlMs', NaN, RangeError],
    ['cacheTtlMs', '5m', TypeError],
  ])('refuses %s of %j', (name, value, error) => {
    const read = (): unknown => readOptions('options', { [name]: value }, EDIT_CHECKS as never);
    expect(read).toThrow(error);
    expect(read).toThrow(`Expected ${name} `);
  });
});
