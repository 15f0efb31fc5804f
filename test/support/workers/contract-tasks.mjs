// A worker for the contract tests of threads: does the deed that its task names, good or bad. Plain
// JavaScript, because threads load it without a compiler; it must not guard against anything itself.

import { threadId } from 'node:worker_threads';
import { fatalDeeds, nested } from './faults.mjs';

const deeds = {
  threadId: () => threadId,
  echo: ({ value }) => value,
  environment: () => Object.keys(process.env),
  nested: ({ levels }) => nested(levels),
  ...fatalDeeds,
  never: () => new Promise(() => {}),
  /** Ends at once; afterwards the port does what it is told, without any task. */
  keepPort: ({ port }) => {
    port.on('message', (order) => {
      if (order === 'throw') throw new Error('nobody waits for this');
      if (order === 'reject') void Promise.reject(new Error('nobody waits for this'));
      port.postMessage(threadId);
    });
    return threadId;
  },
};

export default function run(task) {
  return deeds[task.deed](task);
}
