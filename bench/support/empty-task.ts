// What a thread runs that does nothing: what starting one costs by itself.

import { parentPort } from 'node:worker_threads';

parentPort?.on('message', (given: unknown) => {
  parentPort?.postMessage(given);
});
