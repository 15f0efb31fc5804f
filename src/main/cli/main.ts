#!/usr/bin/env node
// The command line: loads the command that is asked for, and turns however a run ends into an exit
// code. That is set rather than the process ended, so that what was printed gets out. What commands
// there are stands in commands.ts; nothing here may load the public API.

import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { Command, CommanderError } from 'commander';
import { COMMANDS, namedCommand } from './commands.js';
import type { CommandEntry } from './commands.js';
import { EXIT, EXIT_CODES_HELP } from './terminal/exit-codes.js';
import { printText, tell, tellLines } from './terminal/print.js';
import { terminalLayout } from './terminal/terminal-layout.js';
import { printable } from './terminal/terminal-text.js';

function packageVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** What the list of commands shows of one that is not asked for. */
function createPlaceholder(entry: CommandEntry): Command {
  const command = new Command(entry.name);
  return entry.arguments === '' ? command : command.arguments(entry.arguments);
}

async function createCommand(entry: CommandEntry): Promise<Command> {
  const create = await entry.load();
  return create((code) => {
    process.exitCode = code;
  });
}

async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('ctxfold')
    .description('Context compaction for agents: measure it on sessions that you have recorded.')
    .version(packageVersion())
    .option('--debug', 'on failure, print the stack and the causes')
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage()}` })
    .addHelpText('after', `\n${EXIT_CODES_HELP}`);
  const named = namedCommand(args);
  for (const entry of COMMANDS) {
    const command = entry.name === named ? await createCommand(entry) : createPlaceholder(entry);
    program.addCommand(command.summary(entry.summary));
  }
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .showHelpAfterError('(--help tells what is possible)')
      .configureOutput({
        writeOut: printText,
        writeErr: (text) => {
          tellLines(text.trimEnd());
        },
        getOutHelpWidth: () => terminalLayout().width,
        getErrHelpWidth: () => terminalLayout().width,
      });
  }
  return program;
}

async function main(): Promise<void> {
  const program = await createProgram(process.argv.slice(2));
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version end that way too.
      process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
      return;
    }
    const { describeError, exitCodeOf } = await import('./terminal/print-error.js');
    const { debug } = program.opts<{ readonly debug?: boolean }>();
    tellLines(describeError(error, debug === true));
    process.exitCode = exitCodeOf(error);
  }
}

/** What nobody waits for may fail as well, and ends in one line too. */
function failAtOnce(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  if (process.argv.includes('--debug')) tellLines(inspect(error));
  else tell(printable(message));
  process.exit(EXIT.failed);
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads has read enough, as in `| head`.
  if (error.code === 'EPIPE') return;
  tell(`What there is to print cannot be written: ${printable(error.message)}`);
  process.exit(EXIT.failed);
});
// There is nowhere left to say it.
process.stderr.on('error', () => undefined);
// Where the command is not the process, this is its host's.
if (process.listenerCount('uncaughtException') === 0) process.on('uncaughtException', failAtOnce);

await main();
