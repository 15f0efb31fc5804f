// The memory that this thread uses.

import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Megabytes in use on this thread after garbage collection. */
export async function usedMegabytes(): Promise<number> {
  await collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  // `external` includes array buffers.
  return (heapUsed + external) / 1_000_000;
}

/** Collects garbage; in three rounds, including what finalizers release. */
export async function collectGarbage(rounds: number = 3): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < rounds; round += 1) {
    await delay(50);
    collect();
  }
}
