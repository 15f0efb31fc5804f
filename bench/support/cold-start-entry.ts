// A process that measures and reports one start of threads, of the kind given as argument.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createCompactor } from '../../src/index.js';
import type { Tokenizer } from '../../src/index.js';
import { check } from './check.js';
import { ENDLESS_CONTEXT, historyOf } from './sessions.js';
import { checkNoFailures } from './turns.js';

/** What is started: a plain thread with an empty task, or a session up to its first pass. */
export type ColdStart = 'empty task' | 'first pass' | 'first pass and count';

/** Long enough to be resident, short enough for one message. */
const ENTRIES = 256;

const STARTS: Readonly<Record<ColdStart, () => Promise<number>>> = {
  'empty task': timeEmptyTask,
  'first pass': () => timeFirstPass('estimate'),
  'first pass and count': () => timeFirstPass('o200k'),
};

process.send?.(await STARTS[process.argv[2] as ColdStart]());

async function timeEmptyTask(): Promise<number> {
  const startedAt = performance.now();
  const worker = new Worker(new URL('./empty-task.js', import.meta.url));
  worker.postMessage(1);
  const [answer] = (await once(worker, 'message')) as [number];
  const wallMs = performance.now() - startedAt;
  check(answer === 1, 'the empty task answered something else');
  await worker.terminate();
  return wallMs;
}

async function timeFirstPass(tokenizer: Tokenizer): Promise<number> {
  const history = historyOf(ENTRIES);
  const startedAt = performance.now();
  await using compactor = createCompactor({
    offload: 'resident',
    threads: 1,
    tokenizer,
    contextLimit: ENDLESS_CONTEXT,
    workspaceRoot: '/w',
  });
  const session = await compactor.createSession();
  // Not passed at opening: an opening history counts as already sent, and the edit of sent entries runs on this thread.
  session.history.addAll(history);
  const { pruned } = await session.ensureCompressionBeforeSend('first');
  const wallMs = performance.now() - startedAt;
  check(pruned !== null, 'the first pass found nothing');
  check(compactor.stats().residentPasses === 1, 'the first pass was not answered by the worker');
  checkNoFailures(compactor);
  return wallMs;
}
