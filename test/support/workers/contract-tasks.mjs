// A worker for the contract tests of threads: runs the named behaviour, good or bad. Plain JavaScript, because threads load
// it without a compiler. It must not guard against anything itself.

import { threadId } from 'node:worker_threads';
import { fatalDeeds, nested } from './faults.mjs';

const deeds = {
  threadId: () => threadId,
  echo: ({ value }) => value,
  environment: () => Object.keys(process.env),
  nested: ({ levels }) => nested(levels),
  ...fatalDeeds,
  never: () => new Promise(() => {}),
  /** Ends at once; the port keeps obeying without any task. */
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
