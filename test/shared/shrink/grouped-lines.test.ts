// Where lists of matches and files are cut.

import { describe, expect, it } from 'vitest';
import { GROUPING } from '../../../src/shared/shrink/grouped-lines.js';
import { Draft } from '../../../src/shared/shrink/shrinker.js';

/** The shortened result of a search. */
function left(lines: readonly string[]): readonly string[] {
  const subject = { purpose: 'search', command: '', level: 'default' } as const;
  return GROUPING.shrink(Draft.ofLines(lines), subject)?.lines ?? lines;
}

function matches(count: number, file: string): readonly string[] {
  return Array.from({ length: count }, (_, at) => `src/${file}.ts:${at}: it is`);
}

/** The same below its path. */
function listed(count: number, file: string): readonly string[] {
  const lines = matches(count, file).map((line) => line.replace(/^[^:]+:/, ' '));
  return [`src/${file}.ts`, ...lines];
}

describe('grouping', () => {
  it('keeps all of a list that is not very long', () => {
    expect(left(matches(300, 'a'))).toEqual(listed(300, 'a'));
    expect(left(matches(2, 'a'))).toEqual(listed(2, 'a'));
    for (const few of [matches(1, 'a'), ['./a', './b']]) expect(left(few)).toEqual(few);
  });

  it('cuts no single line of a file, and keeps the last ten lines', () => {
    const long = [
      ...matches(65, 'a'),
      ...matches(66, 'b'),
      ...matches(300, 'c'),
      ...matches(10, 'd'),
    ];
    expect(left(long)).toEqual([
      ...listed(65, 'a'),
      ...listed(64, 'b'),
      '[… 2 more of these left out …]',
      ...listed(64, 'c'),
      '[… 236 more of these left out …]',
      ...listed(10, 'd'),
    ]);
  });
});
