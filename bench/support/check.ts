// Every benchmark checks what it measured: a fast wrong answer is no result.

import { isDeepStrictEqual } from 'node:util';
import type { IContent } from '../../src/index.js';

/** @throws Error that says what does not hold, which ends the benchmark. */
export function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`A benchmark made a wrong result: ${what}.`);
}

/** Checks that two histories are equal; shared entries cost nothing. */
export function checkSameHistory(
  actual: readonly IContent[],
  expected: readonly IContent[],
  what: string,
): void {
  check(
    actual.length === expected.length,
    `${what}: ${actual.length} for ${expected.length} entries`,
  );
  for (const [at, entry] of actual.entries()) {
    const other = expected[at];
    check(entry === other || isDeepStrictEqual(entry, other), `${what}: entry ${at} differs`);
  }
}
