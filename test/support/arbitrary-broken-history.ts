// Random histories as crashes and careless tools leave them: responses missing or late by the dozen,
// entries gone, in the wrong order or empty. A pass must neither throw on them nor make them worse.

import fc from 'fast-check';

import type { IContent } from '../../src/shared/content.js';
import { arbitraryHistory } from './arbitrary-history.js';

/** Gives histories that break rules of `findViolations`, most of them several. */
export function arbitraryBrokenHistory(): fc.Arbitrary<IContent[]> {
  const place = fc.nat(400);
  return fc
    .record({
      history: arbitraryHistory(),
      unanswered: fc.record({ from: fc.nat(50), count: fc.constantFrom(0, 5, 40, 150, 400) }),
      // Dozens of calls are open at once then, several of them with one id.
      isAnsweredLate: fc.boolean(),
      removed: fc.array(place, { maxLength: 20, size: 'max' }),
      emptied: fc.array(place, { maxLength: 3, size: 'max' }),
      swapped: fc.array(fc.tuple(place, place), { maxLength: 4, size: 'max' }),
    })
    .map(({ history, unanswered: { from, count }, isAnsweredLate, removed, emptied, swapped }) => {
      const isLate = ({ speaker }: IContent, at: number): boolean =>
        speaker === 'tool' && at >= from && at < from + count;
      const kept = [
        ...history.slice(0, from + count).filter((entry, at) => !isLate(entry, at)),
        ...(isAnsweredLate ? history.filter(isLate) : []),
        ...history.slice(from + count),
      ]
        .filter((_, at) => !removed.includes(at))
        .map((entry, at) => (emptied.includes(at) ? { ...entry, blocks: [] } : entry));
      for (const [a, b] of swapped) swap(kept, a, b);
      return kept;
    });
}

function swap(history: IContent[], a: number, b: number): void {
  const [first, second] = [history[a], history[b]];
  if (first === undefined || second === undefined) return;
  history[a] = second;
  history[b] = first;
}
