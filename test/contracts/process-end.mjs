// A process of its own for the contract tests: prepares the scene that its first argument names, and
// prints what becomes of it. `ended`: nothing kept it alive; `held`: something still does after as many
// milliseconds as the second argument says.

import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { wrap } from 'comlink';
import { Piscina } from 'piscina';

function open(worker) {
  return new Piscina({
    filename: fileURLToPath(new URL(`../support/workers/${worker}`, import.meta.url)),
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Infinity,
    atomics: 'disabled',
  });
}

async function plantPort(worker, deed) {
  const { port1, port2 } = new MessageChannel();
  await open(worker).run({ deed, port: port2 }, { transferList: [port2] });
  return port1;
}

async function connect() {
  const port = await plantPort('contract-ports.mjs');
  const resident = wrap(port);
  await resident.threadId();
  return { port, resident };
}

/** Holds the proxy: a collected one would close the port, sooner or later and without any call of `gc`. */
async function connectForGood() {
  globalThis.connection = await connect();
  return globalThis.connection;
}

const scenes = {
  idlePool: () => open('contract-tasks.mjs').run({ deed: 'threadId' }),
  endlessTask: () => void open('contract-tasks.mjs').run({ deed: 'loop' }),
  wrappedPort: () => connectForGood(),
  unrefAfterWrap: async () => {
    const { port, resident } = await connectForGood();
    port.unref();
    void resident.never();
  },
  unrefBeforeWrap: async () => {
    const port = await plantPort('contract-ports.mjs');
    port.unref();
    globalThis.resident = wrap(port);
  },
  strayError: async () => {
    const port = await plantPort('contract-tasks.mjs', 'keepPort');
    port.postMessage('throw');
    setInterval(() => {}, 1_000);
  },
  /** Nothing reaches the proxy any more. */
  collectedProxy: async () => {
    const { port } = await connect();
    port.on('close', () => console.log('closed'));
    setInterval(() => globalThis.gc(), 20).unref();
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
