// Cuts sessions in two, by which numbers are found and by which they are judged. A session is never cut: what one
// half of it teaches, the other half is sure to confirm.

import { seededRandom } from '../../support/seeded-random.js';
import type { RecordedSession } from '../recorded-session.js';

/** Two halves of some sessions, all contexts of a session in the same one. */
export interface Split {
  readonly fitted: readonly RecordedSession[];
  readonly heldOut: readonly RecordedSession[];
}

/** Some splits, each with about half of the sessions of each format on either side. The same seed gives the same ones. */
export function splitsOf(
  contexts: readonly RecordedSession[],
  count: number,
  seed: number = 1,
): readonly Split[] {
  const random = seededRandom(seed);
  const byFormat = new Map<string, Set<string>>();
  for (const { format, source } of contexts) {
    byFormat.set(format, (byFormat.get(format) ?? new Set()).add(source));
  }
  return Array.from({ length: count }, () => {
    const fitted = new Set<string>();
    let isFitted = random() < 0.5;
    for (const sources of byFormat.values()) {
      // Across formats, too, sides alternate: formats of one session each must not all be on one side.
      for (const source of shuffled([...sources].sort(), random)) {
        if (isFitted) fitted.add(source);
        isFitted = !isFitted;
      }
    }
    return {
      fitted: contexts.filter(({ source }) => fitted.has(source)),
      heldOut: contexts.filter(({ source }) => !fitted.has(source)),
    };
  });
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
