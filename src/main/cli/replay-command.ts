// The command `replay`: its arguments, options and help. What it does is loaded when it runs.

import { Command, Option } from 'commander';
import { COMPRESSION_STRATEGIES, getCompressionStrategy, TRANSCRIPT_FORMATS } from '../../index.js';
import type { CompressionStrategyName, OffloadMode, TranscriptFormat } from '../../index.js';
import { EXIT_CODES_HELP } from './exit-codes.js';
import { share, wholeNumber } from './option-values.js';

/** The options of `replay` as the command line gives them. */
export interface ReplayArguments {
  readonly format?: TranscriptFormat;
  readonly strategy: CompressionStrategyName;
  readonly contextLimit: number;
  readonly threshold?: number;
  readonly preserveThreshold?: number;
  readonly recency?: number;
  readonly workspace?: string;
  readonly offload: OffloadMode;
  readonly threads?: number;
  readonly json?: boolean;
}

const EXAMPLES_HELP = `
Examples:
  ctxfold replay ~/.claude/projects/my-project/session.jsonl
  ctxfold replay rollout.jsonl --recency 3 --context-limit 128000
  ctxfold replay chat.json --format openai-chat --json | jq .end.tokens

${EXIT_CODES_HELP}`;

/** Makes the command; `onExit` is told the exit code of a run that came to its end. */
export function createReplayCommand(onExit: (code: number) => void): Command {
  return new Command('replay')
    .summary('show what ctxfold saves on a recorded session')
    .description(
      'Plays a recorded agent session through ctxfold, turn by turn, and reports the tokens that ' +
        'each model call would have sent without and with it. Nothing leaves the machine.',
    )
    .argument('<file>', 'the recorded session')
    .addOption(
      new Option('--format <name>', 'format of the file (default: found out)').choices(
        TRANSCRIPT_FORMATS,
      ),
    )
    .addOption(
      new Option('--strategy <name>', 'compression strategy')
        .choices(COMPRESSION_STRATEGIES.filter((name) => !getCompressionStrategy(name).requiresLLM))
        .default('high-density'),
    )
    .option('--context-limit <tokens>', 'context window of the model', wholeNumber(1), 200_000)
    .option(
      '--threshold <share>',
      'compress at this share of the context window (default: the strategy’s)',
      share(false),
    )
    .option(
      '--preserve-threshold <share>',
      'share of the entries, from the end, that compression leaves alone (default: 0.2)',
      share(true),
    )
    .option(
      '--recency <n>',
      'keep only the newest n results of each tool (default: off)',
      wholeNumber(1),
    )
    .option('--workspace <dir>', 'where relative paths start (default: as recorded, else here)')
    .addOption(
      new Option('--offload <mode>', 'where work runs')
        .choices(['auto', 'snapshot', 'inline'])
        .default('auto'),
    )
    .option('--threads <n>', 'worker threads (default: 1 or 2)', wholeNumber(1, 64))
    .option('--json', 'print one JSON document, without content of the session')
    .addHelpText('after', EXAMPLES_HELP)
    .action(async (file: string, given: ReplayArguments) => {
      const { runReplay } = await import('./run-replay.js');
      onExit(await runReplay(file, given));
    });
}
