import { describe, expect, it } from 'vitest';
import { madeFrom, originalsOf } from '../../../src/adapters/format/originals.js';

describe('originalsOf', () => {
  const [first, second] = [{ n: 1 }, { n: 2 }];

  it('leads from a message through all edits to those that the caller passed', () => {
    const edited = madeFrom({ n: 3 }, first);
    const joined = madeFrom({ n: 4 }, edited, second);

    expect(originalsOf(edited)).toEqual([first]);
    expect(originalsOf(joined)).toEqual([first, second]);
  });

  it('is the message itself if no other one was made of it', () => {
    expect(originalsOf(madeFrom(first, first))).toEqual([first]);
  });
});
