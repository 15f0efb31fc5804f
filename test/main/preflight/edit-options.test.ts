// The options for when edits land: their defaults, and what is refused.

import { describe, expect, it } from 'vitest';

import { completeEditOptions } from '../../../src/main/preflight/edit-options.js';

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
    const complete = (): unknown => completeEditOptions({ [name]: value });
    expect(complete).toThrow(error);
    expect(complete).toThrow(`Expected ${name} `);
  });
});
