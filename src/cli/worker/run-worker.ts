// Processes summary jobs from a queue until the process is terminated.

import { resolve } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { summaryProcessor } from '../../bullmq.js';
import type { SummaryProcessor } from '../../bullmq.js';
import { CtxfoldError } from '../../index.js';
import type { Summarizer } from '../../index.js';
import { openStore } from '../../state.js';
import { EXIT } from '../terminal/exit-codes.js';
import { waitForTermination } from '../terminal/interruptible.js';
import { withOptions } from '../terminal/options.js';
import { printMessage } from '../terminal/print.js';
import type { WorkerArguments } from './worker-command.js';

/** Grace period for running jobs after a signal, before they are aborted. */
const SHUTDOWN_MS = 25_000;

/** Time for reporting the outcome of aborted jobs to Redis, and then for disconnecting. */
const DISCONNECT_MS = 1_500;

/** Runs the worker; resolves to the exit code. @throws UsageError if an option is invalid */
export async function runWorker(options: WorkerArguments): Promise<number> {
  const summarizer = await loadSummarizer(options.summarizer);
  const packages = await loadPackages();
  const { store, close } = await withOptions(() => openStore(options.store ?? options.redis));
  try {
    const processor = await withOptions(async () => summaryProcessor(summarizer, { store }));
    return await work(processor, options, packages);
  } finally {
    await close();
  }
}

/** Processes jobs until the process is terminated; resolves to the exit code. */
async function work(
  process: SummaryProcessor,
  { redis, queue, concurrency }: WorkerArguments,
  { Worker, Redis }: Awaited<ReturnType<typeof loadPackages>>,
): Promise<number> {
  const seen = new Set<string>();
  const reportOnce = (what: string, error: Error): void => {
    const line = `${what}: ${error.message}`;
    if (seen.has(line)) return;
    seen.add(line);
    printMessage(line);
  };
  const connection = new Redis(redis, { maxRetriesPerRequest: null });
  connection.on('error', (error) => {
    reportOnce('redis', error);
  });
  try {
    // Aborts running jobs. Not all versions of BullMQ can cancel jobs themselves.
    const ending = new AbortController();
    const worker = new Worker(queue, (job, token) => process(job, token, ending.signal), {
      connection,
      concurrency,
    });
    worker.on('error', (error) => {
      reportOnce('queue', error);
    });
    worker.on('failed', (job, { message, cause }) => {
      const why = cause instanceof Error ? ` ${cause.message}` : '';
      printMessage(`${job?.id ?? 'a job'} failed: ${message}${why}`);
    });
    printMessage(`working on queue ${queue}, ${concurrency} summaries at a time`);
    await waitForTermination();
    printMessage('finishing running jobs');
    // Abort jobs that are still running after the grace period; another worker takes them over.
    const late = setTimeout(() => {
      ending.abort();
    }, SHUTDOWN_MS);
    // Force closing if Redis is unreachable: no job can be completed then, and a graceful close would never resolve.
    const closing = worker.close(connection.status !== 'ready');
    await Promise.race([closing, after(SHUTDOWN_MS + DISCONNECT_MS, undefined, { ref: false })]);
    clearTimeout(late);
    await Promise.race([worker.disconnect(), after(DISCONNECT_MS, undefined, { ref: false })]);
    return EXIT.done;
  } finally {
    connection.disconnect();
  }
}

async function loadSummarizer(path: string): Promise<Summarizer> {
  try {
    const module = (await import(pathToFileURL(resolve(path)).href)) as {
      readonly default?: unknown;
    };
    const given = module.default;
    const made: unknown = typeof given === 'function' ? await (given as () => unknown)() : given;
    return made as Summarizer;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CtxfoldError(`${path} cannot be loaded: ${reason}`, 'SUMMARIZER_FAILED', { cause });
  }
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
