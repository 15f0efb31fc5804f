// A thread that samples the memory of the process every other millisecond and keeps the maximum.

import { workerData } from 'node:worker_threads';

const INTERVAL_MS = 2;

const peak = workerData as Float64Array;
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
for (;;) {
  peak[0] = Math.max(peak[0] ?? 0, process.memoryUsage.rss());
  Atomics.wait(never, 0, 0, INTERVAL_MS);
}
