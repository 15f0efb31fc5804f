// The command `worker`: options and help. The implementation is loaded when it runs.

import { Command, InvalidArgumentError } from 'commander';
import { SERVICE_EXIT_CODES_HELP } from '../terminal/exit-codes.js';
import { UsageError, wholeNumber } from '../terminal/options.js';

const EXAMPLES_HELP = `
Examples:
  ctxfold worker --redis redis://127.0.0.1:6379 --summarizer ./summarizer.js
  ctxfold worker --redis redis://10.0.0.7 --summarizer ./summarizer.js \\
    --concurrency 16 --store postgres://10.0.0.8/agents

The default export of the module is the \`summarizer\` for \`createCompactor\`, or a function that returns it:
  export default fromLanguageModel(
    createOpenAI()('my-model'), { contextLimit: 400_000 });

${SERVICE_EXIT_CODES_HELP}`;

/** Parsed options of `worker`. */
export interface WorkerArguments {
  readonly redis: string;
  readonly summarizer: string;
  /** @default the Redis of `redis` */
  readonly store?: string;
  readonly queue: string;
  readonly concurrency: number;
}

/** Rejects all but Redis URLs: the default store would use other text as a directory. Errors omit the URL: it may hold a password. */
function assertRedisUrl(text: string): void {
  if (/^rediss?:\/\//.test(text) && URL.canParse(text)) return;
  throw new UsageError('--redis: expected a URL such as redis://127.0.0.1:6379.');
}

/** Parser of a queue's name: BullMQ takes no others. */
function queueName(text: string): string {
  if (text !== '' && !text.includes(':')) return text;
  throw new InvalidArgumentError('Expected a name without colons.');
}

/** Creates the command, which runs until it is terminated. */
export function createWorkerCommand(): Command {
  return new Command('worker')
    .description(
      'Runs the summary jobs of compactors with `queuedSummarizer` of ctxfold/bullmq, as a worker of a BullMQ ' +
        'queue. Any number of workers share the queue. On SIGTERM and SIGINT it finishes running jobs first.',
    )
    .requiredOption('--redis <url>', 'Redis or Valkey of the queue')
    .requiredOption('--summarizer <module>', 'module with the model that writes summaries')
    .option(
      '--store <where>',
      'store of requests and answers: redis://…, postgres://… or a directory (default: that Redis)',
    )
    .option('--queue <name>', 'name of the queue', queueName, 'ctxfold')
    .option('--concurrency <number>', 'summaries at a time', wholeNumber(1, 1_000), 4)
    .addHelpText('after', EXAMPLES_HELP)
    .action(async (given: WorkerArguments) => {
      assertRedisUrl(given.redis);
      const { runWorker } = await import('./run-worker.js');
      process.exitCode = await runWorker(given);
    });
}
