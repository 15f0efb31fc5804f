#!/usr/bin/env node
// Entry point of the command line: loads only the requested command (see commands.ts) and maps every
// outcome to an exit code. Sets `process.exitCode` instead of exiting, so that pending output is flushed.
// Must not load the public API: help would be slow.

import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { COMMANDS, namedCommand } from './commands.js';
import type { CommandEntry } from './commands.js';
import { EXIT, EXIT_CODES_HELP, exitCodeOf } from './terminal/exit-codes.js';
import { UsageError } from './terminal/options.js';
import { printError, printText, printMessage, printMessageLines } from './terminal/print.js';
import { outputWidth } from './terminal/terminal-layout.js';

function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** Returns a stand-in for a command that is not loaded, so that the help text lists it. */
function createPlaceholder(entry: CommandEntry): Command {
  const command = new Command(entry.name);
  return entry.arguments === '' ? command : command.arguments(entry.arguments);
}

async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('ctxfold')
    .description('Context compaction for agents: measure it on recorded sessions.')
    .version(packageVersion())
    .option('--debug', 'on failure, print the stack trace and the causes')
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage()}` })
    .addHelpText('after', `\n${EXIT_CODES_HELP}`);
  const named = namedCommand(args);
  // Options after the child command of `run` belong to that command. With other commands, `--debug` may stand anywhere.
  if (named === 'run') program.enablePositionalOptions();
  for (const entry of COMMANDS) {
    const create = entry.name === named ? await entry.load() : () => createPlaceholder(entry);
    program.addCommand(create().summary(entry.summary));
  }
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .showHelpAfterError('(see --help)')
      .configureOutput({
        writeOut: printText,
        writeErr: (text) => {
          printMessageLines(text.trimEnd());
        },
        getOutHelpWidth: outputWidth,
        getErrHelpWidth: outputWidth,
      });
  }
  return program;
}

/** Drops `help` in front of an unknown command: commander would show the general help instead of an error that names the command. */
function dropHelpBeforeUnknownCommand(args: readonly string[]): string[] {
  const named = namedCommand(args);
  const isUnknown = named !== undefined && COMMANDS.every(({ name }) => name !== named);
  const at = isUnknown ? args.indexOf('help') : -1;
  return args.filter((_, each) => each !== at);
}

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const program = await createProgram(args);
  try {
    const parsed = program.parseAsync(dropHelpBeforeUnknownCommand(args), { from: 'user' });
    await parsed.catch((error: unknown) => {
      if (error instanceof UsageError) program.error(`error: ${error.message}`);
      throw error;
    });
  } catch (error) {
    if (error instanceof CommanderError) {
      // --help and --version end here too, with exit code 0.
      process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
      return;
    }
    printError(error, program.opts<{ readonly debug?: boolean }>().debug === true);
    process.exitCode = exitCodeOf(error);
  }
}

/** Prints errors that the command's promise does not catch, such as those of event handlers, on one line too. */
function exitOnUncaught(error: unknown): void {
  printError(error, process.argv.includes('--debug'));
  process.exit(EXIT.failed);
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader closed the pipe, as `| head` does. This is not a failure.
  if (error.code === 'EPIPE') return;
  printMessage(`Cannot write the output: ${error.message}`);
  process.exit(EXIT.failed);
});
// If stderr fails, errors can be reported nowhere.
process.stderr.on('error', () => undefined);
// Keep the handler of a host that imports this module.
if (process.listenerCount('uncaughtException') === 0)
  process.on('uncaughtException', exitOnUncaught);

await main();
