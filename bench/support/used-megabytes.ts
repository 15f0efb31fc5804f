// How much memory of this thread is in use.

import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Megabytes in use on this thread once everything is collected that nobody holds. */
export async function usedMegabytes(): Promise<number> {
  await collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  // The memory of array buffers is a part of what is external.
  return (heapUsed + external) / 1_000_000;
}

/** Collects what nobody holds, also what is let go in reaction to that. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round += 1) {
    await delay(50);
    collect();
  }
}
