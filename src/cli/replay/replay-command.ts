// The command `replay`: options and help. The implementation, and with it the public API, is loaded when
// it runs.

import { Command, Option } from 'commander';
import type { OffloadMode } from '../../index.js';
import type { TranscriptFormat } from '../../transcripts.js';
import { EXIT_CODES_HELP } from '../terminal/exit-codes.js';
import type { ModelArguments } from './model-options.js';
import {
  OFFLOAD_CHOICES,
  STRATEGY_CHOICES,
  absolutePath,
  failOf,
  share,
  wholeNumber,
} from '../terminal/options.js';
import { TRANSCRIPT_FORMATS } from '../../main/formats/transcript.js';

/** Parsed options for playing a session. */
export interface PlayArguments extends ModelArguments {
  readonly format?: TranscriptFormat | undefined;
  readonly threshold?: number | undefined;
  readonly preserveThreshold?: number | undefined;
  readonly topPreserveThreshold?: number | undefined;
  readonly recency?: number | undefined;
  readonly workspace?: string | undefined;
  readonly offload: OffloadMode;
  readonly threads?: number | undefined;
  readonly removalLog?: string | undefined;
  readonly price?: string;
}

/** Parsed options of `replay`. */
export interface ReplayArguments extends PlayArguments {
  readonly json?: boolean;
  /** Whether JSON hides content. */
  readonly redact: boolean;
}

/** Help for the argument of commands that read sessions. */
export const SESSION_HELP: string = 'a recorded session, a folder of them, or - for standard input';

type SharedOption =
  'format' | 'contextLimit' | 'recency' | 'workspace' | 'price' | 'json' | 'noRedact';

/** Options that `replay` and `analyze` share. */
export const SHARED_OPTIONS: Readonly<Record<SharedOption, Option>> = {
  format: new Option(
    '--format <name>',
    'format of the file, or of all (default: detected)',
  ).choices(TRANSCRIPT_FORMATS),
  contextLimit: new Option(
    '--context-limit <tokens>',
    'context window of the model (default: that of the model the session names, 128000 if unknown)',
  ).argParser(wholeNumber(1)),
  recency: new Option(
    '--recency <n>',
    'keep only the newest n results of each tool (default: off)',
  ).argParser(wholeNumber(1)),
  workspace: new Option(
    '--workspace <dir>',
    'base of relative paths (default: as recorded, else the working directory)',
  ).argParser(absolutePath),
  price: new Option(
    '--price <model or dollars>',
    'price of input: a model id, or dollars per million tokens as input/read/write ' +
      '(default: the prices of the recorded models)',
  ),
  json: new Option(
    '--json',
    'print one JSON document without content: figures, plain tool names and call ids; ' +
      'no texts, parameters or working directory, and tags instead of paths',
  ),
  noRedact: new Option('--no-redact', 'with --json, show paths, parameters and the start of texts'),
};

const EXAMPLES_HELP = `
Examples:
  ctxfold replay ~/.claude/projects/my-project/session.jsonl
  ctxfold replay rollout.jsonl --recency 3 --context-limit 128000
  ctxfold replay ~/.claude/projects
  xz -dc session.jsonl.xz | ctxfold replay -
  ctxfold replay chat.json --format openai-chat --json | jq .end.tokens
  ctxfold replay session.jsonl --context-limit 50000 --strategy middle-out \\
    --base-url https://api.openai.com/v1 --model gpt-4.1-mini \\
    --api-key-env OPENAI_API_KEY
  ctxfold replay session.jsonl --strategy one-shot \\
    --base-url http://localhost:11434/v1 --model qwen3 \\
    --summarizer-context-limit 32000

${EXIT_CODES_HELP}`;

/** Creates the command. A run that completes passes its exit code to `onExit`. */
export function createReplayCommand(onExit: (code: number) => void): Command {
  const command = new Command('replay')
    .description(
      'Plays a recorded agent session through ctxfold, turn by turn, and reports the tokens that ' +
        'each model call would have sent without and with it. Nothing leaves the machine, except ' +
        'with strategies that ask a model: middle-out and one-shot send the session to --base-url, ' +
        'and nowhere else, to have it summarized.',
    )
    .argument('<path>', SESSION_HELP);
  return addPlayOptions(command)
    .addOption(SHARED_OPTIONS.json)
    .addOption(SHARED_OPTIONS.noRedact)
    .addHelpText('after', EXAMPLES_HELP)
    .action(async (path: string, given: ReplayArguments, command: Command) => {
      const { runReplay } = await import('./run-replay.js');
      onExit(await runReplay(path, given, failOf(command)));
    });
}

/** Adds the options for playing a session. */
export function addPlayOptions(command: Command): Command {
  return command
    .addOption(SHARED_OPTIONS.format)
    .addOption(
      new Option('--strategy <name>', 'compression strategy')
        .choices(STRATEGY_CHOICES)
        .default('high-density'),
    )
    .addOption(SHARED_OPTIONS.contextLimit)
    .option(
      '--threshold <share>',
      'compress at this share of the context window (default: depends on the strategy)',
      share(false),
    )
    .option(
      '--preserve-threshold <share>',
      'share of the entries, from the end, that compression leaves alone (default: 0.2)',
      share(true),
    )
    .option(
      '--top-preserve-threshold <share>',
      'share of the entries, from the start, that middle-out leaves alone (default: 0.2)',
      share(true),
    )
    .addOption(SHARED_OPTIONS.recency)
    .addOption(SHARED_OPTIONS.workspace)
    .addOption(
      new Option('--offload <mode>', 'where work runs').choices(OFFLOAD_CHOICES).default('auto'),
    )
    .option('--threads <n>', 'worker threads (default: 1 or 2)', wholeNumber(1, 64))
    .option(
      '--removal-log <file>',
      'append removed content to this file, as a session with a removal log does',
    )
    .addOption(SHARED_OPTIONS.price)
    .option('--base-url <url>', 'server of the model that writes summaries: <url>/chat/completions')
    .option('--model <name>', 'the model that writes summaries')
    .option('--api-key-env <variable>', 'environment variable with the API key (default: no key)')
    .option(
      '--summarizer-context-limit <tokens>',
      'context window of the model that writes summaries (default: --context-limit)',
      wholeNumber(1),
    )
    .option(
      '--fallback-to-truncation',
      'if the model or its summary fails, truncate and continue (default: stop)',
    );
}
