// Splits sessions into a fitting and a held-out half. Never splits a session, because its halves are correlated.

import { seededRandom } from '../../support/seeded-random.js';
import type { RecordedSession } from '../recorded-session.js';

/** Two halves; all contexts of a session are in the same one. */
export interface Split {
  readonly fitted: readonly RecordedSession[];
  readonly heldOut: readonly RecordedSession[];
}

/** Splits with about half of each format's sessions on either side. Deterministic for a seed. */
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
      // Sides also alternate across formats: formats with one session each must not all be on one side.
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
