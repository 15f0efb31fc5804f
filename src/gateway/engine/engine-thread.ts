// The entry point of an engine's thread: passes calls and results between `threaded-engine.ts` and the engine.

import { parentPort, workerData } from 'node:worker_threads';
import { createEngine } from './engine.js';
import type { EngineOptions } from './engine.js';
import type { Engine, EngineQuestion, EngineReply } from './protocol.js';

const engine = await createEngine(workerData as EngineOptions);

parentPort?.on('message', (question: EngineQuestion) => {
  void answer(question).then((reply) => parentPort?.postMessage(reply));
});

async function answer({ id, method, arguments: given }: EngineQuestion): Promise<EngineReply> {
  const methods = engine as unknown as Record<keyof Engine, (...values: unknown[]) => unknown>;
  return { id, value: await methods[method](...given) };
}
