// Counts how far work goes through maps: what is done for one of many must not look at all of them.

import { vi } from 'vitest';

const ITERATOR = Object.getPrototypeOf(new Map().values()) as { next: () => unknown };

/** Runs work and returns how many entries of maps it has gone through. */
export async function stepsOfMaps(work: () => unknown): Promise<number> {
  const next = vi.spyOn(ITERATOR, 'next');
  try {
    await work();
    return next.mock.calls.length;
  } finally {
    next.mockRestore();
  }
}
