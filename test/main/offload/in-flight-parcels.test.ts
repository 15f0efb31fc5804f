import { expect, it } from 'vitest';
import { DeltaQueue } from '../../../src/main/offload/delta-queue.js';
import { InFlightParcels } from '../../../src/main/offload/in-flight-parcels.js';
import type { CountingThreads } from '../../../src/main/offload/in-flight-parcels.js';
import { OffloadMeter } from '../../../src/main/offload/offload-meter.js';
import { humanText } from '../../../src/shared/content.js';

it('ranks the parcels of a history behind those of a history that began to move in before', () => {
  const ranks: number[] = [];
  const threads: CountingThreads = {
    countingThreads: 2,
    countsFrom: 1,
    count: (_packed, _knownTokens, _signal, rank) => {
      ranks.push(rank);
      return new Promise(() => undefined);
    },
  };
  const entries = Array.from({ length: 1_000 }, () => humanText('x'.repeat(2_000)));
  const state = { base: { revision: 0, length: 1_000 }, entries, countedTokens: () => undefined };
  const open = (): InFlightParcels =>
    new InFlightParcels({
      queue: new DeltaQueue(state, 1_000),
      threads,
      meter: new OffloadMeter(),
      onArrival: () => undefined,
      onChange: () => undefined,
    });
  const [former, later] = [open(), open()];
  for (const parcels of [later, former, later]) parcels.takeFromQueue(false);
  const [a, b, c] = ranks as [number, number, number];
  expect([a > b, a === c]).toEqual([true, true]);
  expect(Math.min(...ranks)).toBeGreaterThan(0);
});
