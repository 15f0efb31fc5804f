// A worker that fails as its request says. Plain JavaScript, because threads load it without a compiler.

import { parentPort, threadId } from 'node:worker_threads';
import { fatalDeeds, nested } from './faults.mjs';

const ok = { ok: true, value: { threadId }, runMs: 0 };

const faults = {
  throw: () => {
    throw new Error('thrown by the worker');
  },
  throwNull: () => {
    throw null;
  },
  throwText: () => {
    throw 'a text';
  },
  ...fatalDeeds,
  never: () => new Promise(() => {}),
  notCloneable: () => ({ ...ok, value: () => 0 }),
  deep: () => ({ ...ok, value: nested(5_000) }),
  wrongShape: () => ({ ...ok, value: { threadId: 'one' } }),
  nothing: () => undefined,
  taskFailed: () => ({
    ok: false,
    error: {
      name: 'RangeError',
      message: 'the pass failed',
      cause: { name: 'Error', message: 'why' },
    },
    runMs: 0,
  }),
  strayRejection: () => {
    void Promise.reject(new Error('nobody waits for this'));
    return ok;
  },
  strayMessage: () => {
    parentPort.postMessage({ strayError: { name: 'Error', message: 'reported' } });
    return ok;
  },
  exitLater: () => {
    setImmediate(() => process.exit(7));
    return ok;
  },
  /** Blocks until the test opens the gate. */
  hold: ({ gate }) => {
    Atomics.wait(gate, 0, 0);
    return ok;
  },
  /** Opens the gate once the answer has been sent. */
  answerAndTell: ({ gate }) => {
    setTimeout(() => {
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    });
    return ok;
  },
  environment: () => ({ ...ok, value: { threadId, names: Object.keys(process.env) } }),
};

export default function run(request) {
  return request.fault === undefined ? ok : faults[request.fault](request);
}
