// What a bare thread of the contract tests runs: the module that it is told of, once for each task that its parent posts. Plain
// JavaScript, because threads load it without a compiler; it must not guard against anything itself.

import { parentPort, workerData } from 'node:worker_threads';

const { default: run } = await import(workerData.module);
parentPort.on('message', async (task) => parentPort.postMessage({ reply: await run(task) }));
