// Works off the summaries of a queue until it is interrupted.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { summaryProcessor } from '../../../bullmq.js';
import type { Summarizer } from '../../../index.js';
import { CtxfoldError } from '../../../index.js';
import { openStore } from '../../../state.js';
import { EXIT } from '../terminal/exit-codes.js';
import { untilEnded } from '../terminal/interruptible.js';
import { tell } from '../terminal/print.js';
import { printable } from '../terminal/terminal-text.js';

export interface WorkerOptions {
  readonly redis: string;
  readonly summarizer: string;
  /** @default that Redis */
  readonly store?: string | undefined;
  readonly queue: string;
  readonly concurrency: number;
}

/** What was begun may take so long once the worker is to end, in milliseconds. */
const LAST_WORK_MS = 25_000;

/** Works; resolves to the exit code when that has ended. */
export async function runWorker(options: WorkerOptions): Promise<number> {
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
  const tellFailure = (what: string, error: Error): void => {
    const line = printable(`${what}: ${error.message}`);
    if (seen.has(line)) return;
    seen.add(line);
    tell(line);
  };
  connection.on('error', (error) => {
    tellFailure('redis', error);
  });
  worker.on('error', (error) => {
    tellFailure('queue', error);
  });
  worker.on('failed', (job, error) => {
    tell(printable(`${job?.id ?? 'a job'} failed: ${error.message}`));
  });
  tell(printable(`works on the queue ${queue}, ${concurrency} summaries at a time`));
  try {
    await untilEnded();
    tell('ends when what was begun is done');
    // What is not done by then is another worker's, once its lock has run out.
    const late = setTimeout(() => {
      worker.cancelAllJobs();
    }, LAST_WORK_MS);
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
