// A thread without work, to measure the start alone.

import { parentPort } from 'node:worker_threads';

parentPort?.on('message', (given: unknown) => {
  parentPort?.postMessage(given);
});
