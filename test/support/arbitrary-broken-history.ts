// Random histories as crashes and careless tools leave them: responses missing by the dozen, entries gone,
// in the wrong order or empty. A pass over them must neither throw nor make them worse.

import fc from 'fast-check';

import type { IContent } from '../../src/shared/content.js';
import { arbitraryHistory } from './arbitrary-history.js';

/** Gives histories that break rules of `findViolations`, most of them several. */
export function arbitraryBrokenHistory(): fc.Arbitrary<IContent[]> {
  const place = fc.nat(400);
  return fc
    .record({
      history: arbitraryHistory(),
      unansweredFrom: place,
      unansweredCount: fc.constantFrom(0, 5, 40, 400),
      removed: fc.array(place, { maxLength: 20, size: 'max' }),
      emptied: fc.array(place, { maxLength: 3, size: 'max' }),
      swapped: fc.array(fc.tuple(place, place), { maxLength: 4, size: 'max' }),
    })
    .map(({ history, unansweredFrom, unansweredCount, removed, emptied, swapped }) => {
      const isUnanswered = ({ speaker }: IContent, at: number): boolean =>
        speaker === 'tool' && at >= unansweredFrom % 50 && at < unansweredFrom + unansweredCount;
      const kept = history
        .filter((entry, at) => !isUnanswered(entry, at) && !removed.includes(at))
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
