// A separate process for the contract tests: prepares the scene that its first argument names, and prints the
// outcome. `ended`: nothing kept the process alive; `held`: something still does after the milliseconds of the
// second argument.

import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';

const urlOf = (name) => new URL(`../support/workers/${name}`, import.meta.url);

/** A thread that does not keep the process alive. */
function open(module) {
  const worker = new Worker(urlOf('bare.mjs'), { workerData: { module: urlOf(module).href } });
  worker.unref();
  return worker;
}

/** Posts a task to a new thread, which keeps the process alive until it answers. */
async function run(module, task, transferList) {
  const worker = open(module);
  worker.postMessage(task, transferList);
  worker.ref();
  await once(worker, 'message');
  worker.unref();
}

async function plantPort(worker, deed) {
  const { port1, port2 } = new MessageChannel();
  await run(worker, { deed, port: port2 }, [port2]);
  return port1;
}

/** Listens to a port into a thread. */
async function hear(prepare = () => {}) {
  const port = await plantPort('contract-tasks.mjs', 'keepPort');
  prepare(port);
  port.on('message', () => {});
  return port;
}

const scenes = {
  idleThread: () => run('contract-tasks.mjs', { deed: 'threadId' }),
  endlessTask: () => void run('contract-tasks.mjs', { deed: 'loop' }),
  heardPort: () => hear(),
  unrefBeforeHearing: () => hear((port) => port.unref()),
  unrefAfterHearing: async () => (await hear()).unref(),
  strayError: async () => {
    const port = await plantPort('contract-tasks.mjs', 'keepPort');
    port.postMessage('throw');
    setInterval(() => {}, 1_000);
  },
};

const [, , scene, holdMs] = process.argv;
await scenes[scene]();
process.on('beforeExit', () => console.log('ended'));
const held = () => {
  console.log('held');
  process.exit();
};
setTimeout(held, Number(holdMs)).unref();
