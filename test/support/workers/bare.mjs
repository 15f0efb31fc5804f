// A bare thread for the contract tests: runs the given module once per task from its parent. Plain JavaScript, because
// threads load it without a compiler. It must not guard against anything itself.

import { parentPort, workerData } from 'node:worker_threads';

const { default: run } = await import(workerData.module);
parentPort.on('message', async (task) => parentPort.postMessage({ reply: await run(task) }));
