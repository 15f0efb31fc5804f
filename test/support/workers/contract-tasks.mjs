// A worker for the contract tests of Piscina: does the deed that its task names, good or bad. Plain
// JavaScript, because threads load it without a compiler; it must not guard against anything itself.

import { parentPort, threadId, workerData } from 'node:worker_threads';
import { fatalDeeds, nested } from './faults.mjs';

// As long as the shared flag of the test is set, this module does not load.
if (workerData?.isBroken !== undefined && Atomics.load(workerData.isBroken, 0) === 1)
  throw new Error('this worker does not load');

class WorkerTrouble extends Error {
  name = 'WorkerTrouble';
  code = 'TROUBLE';
}

const deeds = {
  threadId: () => threadId,
  echo: ({ value }) => value,
  environment: () => Object.keys(process.env),
  /** Replies, and tells so by a message of its own a moment later. */
  nested: ({ levels }) => {
    setTimeout(() => parentPort.postMessage('replied'), 10);
    return nested(levels);
  },
  throwTrouble: () => {
    throw new WorkerTrouble('trouble', { cause: 'the cause' });
  },
  throwNull: () => {
    throw null;
  },
  returnFunction: () => () => 0,
  ...fatalDeeds,
  never: () => new Promise(() => {}),
  /** Blocks until the test opens the gate. */
  hold: ({ gate }) => {
    Atomics.wait(gate, 0, 0);
    return threadId;
  },
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
