// The command `report`: options and help. The implementation is loaded when it runs.

import { Command } from 'commander';
import { EXIT_CODES_HELP } from '../terminal/exit-codes.js';
import { addPlayOptions, SESSION_HELP } from '../replay/replay-command.js';
import type { PlayArguments } from '../replay/replay-command.js';

/** Parsed options of `report`. */
export interface ReportArguments extends PlayArguments {
  readonly output: string;
  readonly redact: boolean;
  readonly title?: string;
}

const DEFAULT_OUTPUT = 'report.html';

const EXAMPLES_HELP = `
Examples:
  ctxfold report ~/.claude/projects/my-project/session.jsonl -o report.html
  ctxfold report rollout.jsonl --recency 3 --title "Release 3, day 2"
  ctxfold report chat.json --format openai-chat --no-redact -o private.html
  ctxfold report ~/.claude/projects/my-project --price 3/0.3/3.75 -o week.html

${EXIT_CODES_HELP}`;

/** Creates the command. */
export function createReportCommand(): Command {
  const command = new Command('report')
    .description(
      'Plays a recorded agent session as replay does, and writes one HTML page about it: what it cost ' +
        'and would have cost, tokens per call, cache use, what fills the window, the life of each ' +
        'result, every edit, and the settings to copy. For a folder: totals by day, and its sessions. ' +
        'The page is self-contained. It has plain tool names, call ids and numbers, and no content of ' +
        'the session unless --no-redact is given: then only you may read the file.',
    )
    .argument('<path>', SESSION_HELP)
    .option('-o, --output <file>', 'file for the page; - for standard output', DEFAULT_OUTPUT)
    .option('--no-redact', 'show paths, and the start of removed content')
    .option('--title <text>', 'title of the page (default: a tag for the file)');
  return addPlayOptions(command)
    .addHelpText('after', EXAMPLES_HELP)
    .action(async (file: string, given: ReportArguments, command: Command) => {
      const { assertOverwritable, runReport } = await import('./run-report.js');
      if (command.getOptionValueSource('output') === 'default') {
        await assertOverwritable(DEFAULT_OUTPUT);
      }
      process.exitCode = await runReport(file, given);
    });
}
