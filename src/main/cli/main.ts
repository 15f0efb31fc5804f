#!/usr/bin/env node
// The command line: makes the commands, and turns however a run ends into an exit code. The exit code
// is set rather than the process ended, so that what was printed gets out.

import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { EXIT, EXIT_CODES_HELP } from './exit-codes.js';
import { describeError, exitCodeOf } from './print-error.js';
import { createReplayCommand } from './replay-command.js';

function packageVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

function createProgram(): Command {
  const program = new Command('ctxfold')
    .description('Context compaction for agents: measure it on sessions that you have recorded.')
    .version(packageVersion())
    .option('--debug', 'on failure, print the stack and the causes')
    .addHelpText('after', `\n${EXIT_CODES_HELP}`);
  program.addCommand(
    createReplayCommand((code) => {
      process.exitCode = code;
    }),
  );
  for (const command of [program, ...program.commands]) {
    command.exitOverride().showHelpAfterError('(--help tells what is possible)');
  }
  return program;
}

async function main(): Promise<void> {
  const program = createProgram();
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version end that way too.
      process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
      return;
    }
    const { debug } = program.opts<{ readonly debug?: boolean }>();
    console.error(describeError(error, debug === true));
    process.exitCode = exitCodeOf(error);
  }
}

// Whoever reads has read enough, as in `| head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

await main();
