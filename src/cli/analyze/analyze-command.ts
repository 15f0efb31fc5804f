// The command `analyze`: options and help. The implementation, and with it the public API, is loaded when
// it runs.

import { Command, Option } from 'commander';
import { EXIT_CODES_HELP } from '../terminal/exit-codes.js';
import { wholeNumber } from '../terminal/options.js';
import { addJsonOptions, addSessionOptions, SESSION_HELP } from '../replay/replay-command.js';
import type { ReplayArguments } from '../replay/replay-command.js';

/** Parsed options of `analyze`. */
export interface AnalyzeArguments extends Pick<
  ReplayArguments,
  'format' | 'contextLimit' | 'recency' | 'workspace' | 'threads' | 'price' | 'json' | 'redact'
> {
  readonly explain?: number;
  readonly suggest?: boolean;
}

const EXAMPLES_HELP = `
Examples:
  ctxfold analyze ~/.claude/projects/my-project/session.jsonl
  ctxfold analyze ~/.claude/projects
  ctxfold analyze rollout.jsonl --recency 3 --context-limit 128000
  ctxfold analyze rollout.jsonl --explain 41
  ctxfold analyze rollout.jsonl --recency 3 --suggest
  ctxfold analyze sessions --json | jq .totals

For a folder, all files below it are tried; files that are not sessions are listed with the reason.

${EXIT_CODES_HELP}`;

/** Creates the command. */
export function createAnalyzeCommand(): Command {
  const command = new Command('analyze')
    .description(
      'Plays recorded agent sessions as replay does, and shows what they consist of, by category and ' +
        'by tool, what each rule removes, and what stays and why. Tokens are counted, not ' +
        'estimated. Nothing leaves the machine.',
    )
    .argument('<path>', SESSION_HELP)
    .option(
      '--explain <index>',
      'show only why one entry of a session stays or goes; entries count from 0',
      wholeNumber(0),
    )
    .addOption(
      new Option(
        '--suggest',
        'print the configuration that reaches these figures, ready to paste',
      ).conflicts(['json', 'explain']),
    );
  return addJsonOptions(addSessionOptions(command, 'the available CPU cores, up to 8'))
    .addHelpText('after', EXAMPLES_HELP)
    .action(async (path: string, given: AnalyzeArguments) => {
      const { runAnalyze } = await import('./run-analyze.js');
      process.exitCode = await runAnalyze(path, given);
    });
}
