// The entry of the thread that an engine runs on. Nothing but messages to and from `threaded-engine.ts`.

import { parentPort, workerData } from 'node:worker_threads';
import { createEngine } from './engine.js';
import type { EngineOptions } from './engine.js';
import { packAnswer } from './engine-messages.js';
import type { EngineMethod, EngineQuestion, EngineReply } from './engine-messages.js';
import type { EngineAnswer } from './protocol.js';

const engine = createEngine(workerData as EngineOptions);

parentPort?.on('message', (question: EngineQuestion) => {
  void answer(question).then(({ id, value }) => {
    const pieces = question.method === 'compact' ? (value as EngineAnswer).pieces : undefined;
    if (pieces === undefined) {
      parentPort?.postMessage({ id, value });
      return;
    }
    const packed = packAnswer(value as EngineAnswer, pieces);
    parentPort?.postMessage({ id, value: packed }, [packed.places.buffer, packed.fresh.buffer]);
  });
});

async function answer({ id, method, arguments: given }: EngineQuestion): Promise<EngineReply> {
  const methods = engine as unknown as Record<EngineMethod, (...values: unknown[]) => unknown>;
  return { id, value: await methods[method](...given) };
}
