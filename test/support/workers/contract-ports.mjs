// A worker for the contract tests of Comlink: its task exposes an object on the given port and ends. Plain JavaScript,
// because threads load it without a compiler.

import { parentPort, threadId } from 'node:worker_threads';
import { expose, transfer } from 'comlink';
import { nested } from './faults.mjs';

const order = [];
const columns = Int32Array.of(1, 2, 3);

const resident = {
  threadId: () => threadId,
  byteLength: (array) => array.byteLength,
  append: (value) => order.push(value),
  appended: () => order,
  never: () => new Promise(() => {}),
  nested: (levels) => nested(levels),
  returnFunction: () => () => 0,
  throwTrouble: () => {
    const cause = new Error('the cause');
    throw Object.assign(new RangeError('trouble', { cause }), { code: 'TROUBLE' });
  },
  takeColumns: () => transfer(columns, [columns.buffer]),
  columnsLeft: () => columns.byteLength,
  exit: () => process.exit(7),
  outOfMemory: () => {
    const hoard = [];
    for (;;) hoard.push(Array.from({ length: 1_000 }, (_, at) => ({ at })));
  },
};

export default function run({ port, isWaiting, isEndless }) {
  if (port !== undefined) expose(resident, port);
  if (isWaiting) return resident.never();
  if (isEndless) parentPort.postMessage('computing');
  while (isEndless);
  return threadId;
}
