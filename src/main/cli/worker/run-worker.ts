// Processes summary jobs from a queue until the process is terminated.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { summaryProcessor } from '../../../bullmq.js';
import type { Summarizer } from '../../../index.js';
import { CtxfoldError } from '../../../index.js';
import { openStore } from '../../../state.js';
import { EXIT } from '../terminal/exit-codes.js';
import { waitForTermination } from '../terminal/interruptible.js';
import { printMessage } from '../terminal/print.js';
import { printable } from '../terminal/terminal-text.js';
import type { WorkerArguments } from './worker-command.js';

/** Grace period for running jobs after a signal. */
const SHUTDOWN_MS = 25_000;

/** Runs the worker; resolves to the exit code. */
export async function runWorker(options: WorkerArguments): Promise<number> {
  const { redis, queue, concurrency } = options;
  const summarizer = await loadSummarizer(options.summarizer);
  const { Worker, Redis } = await loadPackages();
  const { store, close } = await openStore(options.store ?? redis);
  const connection = new Redis(redis, { maxRetriesPerRequest: null });
  const work = summaryProcessor(summarizer, { store });
  const worker = new Worker(queue, (job, token, signal) => work(job, token, signal), {
    connection,
    concurrency,
  });
  const seen = new Set<string>();
  const reportOnce = (what: string, error: Error): void => {
    const line = printable(`${what}: ${error.message}`);
    if (seen.has(line)) return;
    seen.add(line);
    printMessage(line);
  };
  connection.on('error', (error) => {
    reportOnce('redis', error);
  });
  worker.on('error', (error) => {
    reportOnce('queue', error);
  });
  worker.on('failed', (job, error) => {
    printMessage(printable(`${job?.id ?? 'a job'} failed: ${error.message}`));
  });
  printMessage(printable(`working on queue ${queue}, ${concurrency} summaries at a time`));
  try {
    await waitForTermination();
    printMessage('finishing running jobs');
    // Unfinished jobs go to another worker when their locks expire.
    const late = setTimeout(() => {
      worker.cancelAllJobs();
    }, SHUTDOWN_MS);
    await worker.close();
    clearTimeout(late);
    return EXIT.done;
  } finally {
    connection.disconnect();
    await close();
  }
}

async function loadSummarizer(path: string): Promise<Summarizer> {
  const module = (await import(pathToFileURL(resolve(path)).href)) as {
    readonly default?: unknown;
  };
  const given = module.default;
  const made: unknown = typeof given === 'function' ? await (given as () => unknown)() : given;
  return made as Summarizer;
}

async function loadPackages() {
  try {
    const [{ Worker }, { Redis }] = await Promise.all([import('bullmq'), import('ioredis')]);
    return { Worker, Redis };
  } catch (cause) {
    throw new CtxfoldError(
      'The worker needs packages that are not installed: run `npm install bullmq ioredis`.',
      'STORE_FAILED',
      { cause },
    );
  }
}
