import { describe, expect, it } from 'vitest';
import { madeFrom, originalsOf } from '../../../src/adapters/format/originals.js';

describe('originalsOf', () => {
  const [first, second] = [{ n: 1 }, { n: 2 }];

  it('returns the messages that the caller passed, through all edits', () => {
    const edited = madeFrom({ n: 3 }, first);
    const joined = madeFrom({ n: 4 }, edited, second);

    expect(originalsOf(edited)).toEqual([first]);
    expect(originalsOf(joined)).toEqual([first, second]);
  });

  it('returns the message itself if it was not made from another one', () => {
    expect(originalsOf(madeFrom(first, first))).toEqual([first]);
  });
});
