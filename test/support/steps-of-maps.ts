// Counts iterations over maps: work on one element must not visit all of them.

import { vi } from 'vitest';

const ITERATOR = Object.getPrototypeOf(new Map().values()) as { next: () => unknown };

/** Runs work and returns how many map entries it visited. */
export async function stepsOfMaps(work: () => unknown): Promise<number> {
  const next = vi.spyOn(ITERATOR, 'next');
  try {
    await work();
    return next.mock.calls.length;
  } finally {
    next.mockRestore();
  }
}
