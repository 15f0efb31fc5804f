// What edits leave of the turn in progress, so that it begins with reasoning.

import { describe, expect, it } from 'vitest';

import {
  heldForTurnStart,
  pinnedForTurnStart,
  withTurnStart,
} from '../../../src/main/preflight/turn-start.js';
import { summaryEntries } from '../../../src/main/summarizer/summary-note.js';
import type { IContent } from '../../../src/shared/content.js';
import { describeHistory, historyOf } from '../../support/notation.js';

describe('heldForTurnStart', () => {
  it.each([
    [
      'the start, if an answer without reasoning would take its place',
      [1],
      'h a:*s1,r1 t:r1 a:r2 t:r2',
      [1],
    ],
    ['the same if the user speaks beside the results', [1], 'h a:*s1,r1 t:r1 h a:r2 t:r2', [1]],
    [
      'not the start, if one with reasoning takes its place',
      [1],
      'h a:*s1,r1 t:r1 a:*s2,r2 t:r2',
      [],
    ],
    ['the start, if that one goes as well', [1, 3], 'h a:*s1,r1 t:r1 a:*s2,r2 t:r2 a:r3 t:r3', [1]],
    ['not the start, if it keeps its calls', [3], 'h a:*s1,r1 t:r1 a:r2 t:r2', []],
    [
      'a later call, if the user speaks beside its results',
      [3],
      'h a:*s1,r1 t:r1 a:r2 t:r2 h a:r3 t:r3',
      [3],
    ],
    ['the start behind a compaction', [1], 'h a:&compaction,*s1,r1 t:r1 a:r2 t:r2', [1]],
    ['nothing of a turn that is over', [1], 'h a:*s1,r1 t:r1 a:done h a:r2 t:r2', []],
    ['nothing of a turn that begins without', [1], 'h a:r1 t:r1 a:r2 t:r2', []],
    ['nothing in a turn without an answer', [1], 'h a:*s1,r1 t:r1 a:done h', []],
  ])('holds %s', (_, losing, notation, held) => {
    expect(heldForTurnStart(historyOf(notation), (at) => losing.includes(at))).toEqual(held);
  });
});

describe('pinnedForTurnStart', () => {
  it.each([
    ['the question, the start and its results', 'h a:sure h a:*s1,r1 t:r1 a:r2 t:r2', [2, 3, 4]],
    ['the first call, if the start has none', 'h a:*s1,sure a:r1 t:r1 h a:r2 t:r2', [0, 1, 2, 3]],
    ['nothing, if all answers have reasoning', 'h a:*s1,r1 t:r1 a:*s2,r2 t:r2', []],
    ['nothing, if the turn begins without', 'h a:r1 t:r1 a:*s2,r2 t:r2', []],
  ])('is %s', (_, notation, pinned) => {
    expect(pinnedForTurnStart(historyOf(notation))).toEqual(pinned);
  });
});

describe('withTurnStart', () => {
  const former = historyOf(
    'h:one a:r9 t:r9 a:yes h:two a:*s1,r1 t:r1 a:so a:r2 t:r2 h:aside a:r3 t:r3',
  );
  const summary = historyOf('h:summary');
  const acknowledged = summaryEntries('What was.', undefined);
  const at = (...indices: readonly number[]): IContent[] => indices.map((index) => former[index]!);

  it.each([
    [
      'in front of what is left',
      [...summary, ...at(8, 9, 11, 12)],
      'h:summary a:*s1,r1 t:r1 a:r2 t:r2 a:r3 t:r3',
    ],
    ['behind its question, if nothing else is in front', at(8, 9), 'h:two a:*s1,r1 t:r1 a:r2 t:r2'],
    [
      'in front of words beside results',
      [...summary, ...at(10, 11, 12)],
      'h:summary a:*s1,r1 t:r1 h:aside a:r3 t:r3',
    ],
    [
      'without answers that end the turn in front of a summary',
      [...at(4, 5, 6, 7), ...summary, ...at(11, 12)],
      'h:two a:*s1,r1 t:r1 h:summary a:r3 t:r3',
    ],
    [
      'with the end of the turn before, if its start is left',
      [...at(0, 1, 2), ...summary, ...at(11, 12)],
      'h:one a:r9 t:r9 a:yes h:summary a:*s1,r1 t:r1 a:r3 t:r3',
    ],
  ])('restores the start of the turn %s', (_, rewritten, expected) => {
    expect(describeHistory(withTurnStart(rewritten, former))).toBe(expected);
  });

  it('leaves out the acknowledgement of a summary, which would be the start', () => {
    const left = [...at(5, 6), ...at(11, 12)];
    expect(withTurnStart([...acknowledged, ...left], former)).toEqual([acknowledged[0], ...left]);
    expect(withTurnStart([...acknowledged, ...at(11, 12)], former)).toEqual([
      acknowledged[0],
      ...left,
    ]);
  });

  it.each([
    ['the turn begins as it did', [...summary, ...at(5, 6, 8, 9)]],
    ['nothing of it is left', [...at(0), ...summary]],
  ])('returns the same list if %s', (_, rewritten) => {
    expect(withTurnStart(rewritten, former)).toBe(rewritten);
  });
});
