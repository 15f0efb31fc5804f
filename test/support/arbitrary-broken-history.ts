// Random histories as crashes and careless tools leave them: dozens of missing or late responses, lost, reordered or empty
// entries. A pass must neither throw on them nor make them worse.

import fc from 'fast-check';

import type { IContent } from '../../src/shared/content.js';
import { arbitraryHistory } from './arbitrary-history.js';

/** Generates histories that break rules of `findViolations`, mostly several. */
export function arbitraryBrokenHistory(): fc.Arbitrary<IContent[]> {
  const place = fc.nat(400);
  return fc
    .record({
      history: arbitraryHistory(),
      unanswered: fc.record({ from: fc.nat(50), count: fc.constantFrom(0, 5, 40, 150, 400) }),
      // Leaves dozens of calls open at once, some with the same id.
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
