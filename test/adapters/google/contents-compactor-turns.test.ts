import type { Content } from '@google/genai';
import { describe, expect, it } from 'vitest';

import { madeFrom } from '../../../src/adapters/format/originals.js';
import { JoinedTurns } from '../../../src/adapters/google/contents-compactor.js';
import { deepFreeze } from '../../support/deep-freeze.js';

/** `u1 m2`: contents of the user and of the model, each with one text. */
function contentsOf(notation: string): Content[] {
  return notation.split(' ').map((name) =>
    deepFreeze({
      ...(!name.startsWith('x') && { role: name.startsWith('m') ? 'model' : 'user' }),
      parts: [{ text: name }],
    }),
  );
}

function tell(contents: readonly Content[]): string {
  return contents.map(({ parts = [] }) => parts.map(({ text }) => text).join('+')).join(' ');
}

describe('JoinedTurns', () => {
  it.each([
    ['u1 m2 u3 m4', [0, 1, 3], 'u1 m2+m4'],
    ['u1 m2 u3 m4 u5 m6', [0, 1, 3, 5], 'u1 m2+m4+m6'],
    ['u1 m2 u3', [0, 2], 'u1+u3'],
    ['x1 m2 u3', [0, 2], 'x1+u3'],
    ['u1 u2 m3 m4 u5', [0, 1, 2, 3, 4], 'u1 u2 m3 m4 u5'],
    ['u1 m2 u3 u4', [0, 2, 3], 'u1+u3 u4'],
  ])('joins %s, of which the contents %j remain, to %s', (given, left, joined) => {
    const contents = contentsOf(given);
    const standing = left.map((at) => contents[at]!);
    expect(tell(new JoinedTurns().join(standing, contents))).toBe(joined);
  });

  it('joins a written content with its neighbours', () => {
    const given = contentsOf('u1 m2 u3');
    const written = contentsOf('u9')[0]!;
    expect(tell(new JoinedTurns().join([written, given[2]!], given))).toBe('u9+u3');
  });

  it('leaves contents apart that the caller passed side by side, also edited from an earlier copy', () => {
    const given = contentsOf('u1 u2');
    const edited = given.map((each) => madeFrom({ ...each }, structuredClone(each)));
    const join = (...contents: Content[]): string => tell(new JoinedTurns().join(contents, given));
    expect(join(given[0]!, edited[1]!)).toBe('u1 u2');
    expect(join(edited[0]!, given[1]!)).toBe('u1 u2');
    expect(join(...edited)).toBe('u1 u2');
    const others = contentsOf('u1 m0 u2').map((each) => madeFrom({ ...each }, each));
    expect(tell(new JoinedTurns().join([others[0]!, others[2]!], contentsOf('u1 m0 u2')))).toBe(
      'u1+u2',
    );
  });

  it('leaves a content apart that was passed twice', () => {
    const [content] = contentsOf('u1');
    expect(tell(new JoinedTurns().join([content!, content!], [content!, content!]))).toBe('u1 u1');
  });

  it('shares contents without a new neighbour of the same role, and all parts', () => {
    const given = contentsOf('u1 m2 u3 m4 u5');
    const joined = new JoinedTurns().join([given[0]!, given[1]!, given[3]!, given[4]!], given);
    expect(joined[0]).toBe(given[0]);
    expect(joined[1]!.parts![1]).toBe(given[3]!.parts![0]);
    expect(joined[2]).toBe(given[4]);
  });

  it('recognizes joined contents when they are passed again', () => {
    const given = contentsOf('u1 m2 u3 m4 u5');
    const standing = [given[0]!, given[1]!, given[3]!];
    const turns = new JoinedTurns();
    const joined = turns.join(standing, given);
    expect(turns.split([...joined, given[4]!])).toEqual([...standing, given[4]]);
    expect(turns.split(given)).toBe(given);
  });
});
