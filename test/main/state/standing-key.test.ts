// The key by which a state recognizes what a session has sent.

import { describe, expect, it } from 'vitest';
import { haveKey, lengthOfKey } from '../../../src/main/state/standing-key.js';
import { historyOf } from '../../support/notation.js';

/** Never change it: states have it. */
const KEY = 20_399_479_472;

describe('haveKey', () => {
  it('recognizes entries by a key that another process has made', () => {
    const entries = historyOf('h a:r1 t:r1 a');
    expect(lengthOfKey(KEY)).toBe(entries.length);
    expect(haveKey(entries, KEY)).toBe(true);
    expect(haveKey(entries.slice(0, -1), KEY)).toBe(false);
    expect(haveKey(entries.toReversed(), KEY)).toBe(false);
  });
});
