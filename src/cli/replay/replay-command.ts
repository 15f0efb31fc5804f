// The command `replay`: options and help. The implementation, and with it the public API, is loaded when
// it runs.

import { Command, Option } from 'commander';
import type { OffloadMode } from '../../index.js';
import type { TranscriptFormat } from '../../transcripts.js';
import { EXIT_CODES_HELP } from '../terminal/exit-codes.js';
import type { ModelArguments } from './model-options.js';
import { absolutePath, share, wholeNumber } from '../terminal/options.js';
// Not from the public API, whose loading dominates the time to print a help text.
import { TRANSCRIPT_FORMATS } from '../../main/formats/transcript.js';
import { OFFLOAD_MODES } from '../../main/offload/offload.js';
import { COMPRESSION_STRATEGIES } from '../../main/strategies/strategy.js';

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

/** Creates the command. */
export function createReplayCommand(): Command {
  const command = new Command('replay')
    .description(
      'Plays a recorded agent session through ctxfold, turn by turn, and reports the tokens that ' +
        'each model call would have sent without and with it. Nothing leaves the machine, except ' +
        'with strategies that ask a model: middle-out and one-shot send the session to --base-url, ' +
        'and nowhere else, to have it summarized.',
    )
    .argument('<path>', SESSION_HELP);
  return addJsonOptions(addPlayOptions(command))
    .addHelpText('after', EXAMPLES_HELP)
    .action(async (path: string, given: ReplayArguments) => {
      const { runReplay } = await import('./run-replay.js');
      process.exitCode = await runReplay(path, given);
    });
}

/** Adds the options of commands that read sessions. */
export function addSessionOptions(command: Command, threadsByDefault: string): Command {
  return command
    .addOption(
      new Option('--format <name>', 'format of the file, or of all (default: detected)').choices(
        TRANSCRIPT_FORMATS,
      ),
    )
    .option(
      '--context-limit <tokens>',
      'context window of the model (default: that of the model the session names, 128000 if unknown)',
      wholeNumber(1),
    )
    .option(
      '--recency <n>',
      'keep only the newest n results of each tool (default: off)',
      wholeNumber(1),
    )
    .option(
      '--workspace <dir>',
      'base of relative paths (default: as recorded, else the working directory)',
      absolutePath,
    )
    .option('--threads <n>', `worker threads (default: ${threadsByDefault})`, wholeNumber(1, 64))
    .option(
      '--price <model or dollars>',
      'price of input: a model id, or dollars per million tokens as input/read/write ' +
        '(default: the prices of the recorded models)',
    );
}

/** Adds the options of commands that print JSON. */
export function addJsonOptions(command: Command): Command {
  return command
    .option(
      '--json',
      'print one JSON document without content: figures, plain tool names and call ids; ' +
        'no texts, parameters or working directory, and tags instead of paths, except the given ones',
    )
    .option('--no-redact', 'with --json, show paths, parameters and the start of texts');
}

/** Adds the options for playing a session. */
export function addPlayOptions(command: Command): Command {
  return addSessionOptions(command, '1 or 2')
    .addOption(
      new Option('--strategy <name>', 'compression strategy')
        .choices(COMPRESSION_STRATEGIES)
        .default('high-density'),
    )
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
    .addOption(
      new Option('--offload <mode>', 'where work runs').choices(OFFLOAD_MODES).default('auto'),
    )
    .option(
      '--removal-log <file>',
      'append removed content to this file, as a session with a removal log does',
    )
    .option('--base-url <url>', 'server of the model that writes summaries: <url>/chat/completions')
    .option('--model <name>', 'the model that writes summaries')
    .option('--api-key-env <variable>', 'environment variable with the API key (default: no key)')
    .option(
      '--summarizer-context-limit <tokens>',
      'context window of the model that writes summaries (default: --context-limit if given, else 128000)',
      wholeNumber(1),
    )
    .option(
      '--fallback-to-truncation',
      'if the model or its summary fails, truncate and continue (default: stop)',
    );
}
