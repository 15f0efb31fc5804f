// The commands `gateway` and `run`: options and help. The implementation is loaded when one runs.

import { Command, Option } from 'commander';
import type { GatewayOptions } from '../../gateway.js';
import { SERVICE_EXIT_CODES_HELP } from '../terminal/exit-codes.js';
import {
  collectValues,
  isPlainUrl,
  PLAIN_URL,
  UsageError,
  wholeNumber,
} from '../terminal/options.js';

/** Parsed options of both commands. */
interface GatewayArguments {
  readonly mode: 'observe' | 'compact';
  readonly dry?: readonly string[];
  readonly port: number;
  readonly upstream?: readonly string[];
  readonly contextLimit?: number;
  readonly workspace?: string;
  readonly removalLog?: string;
  readonly store?: string;
  /** Only for `gateway`. */
  readonly host?: string;
}

const GATEWAY_EXAMPLES = `
Examples:
  ctxfold gateway --port 8787
  ctxfold gateway --port 8787 --mode compact --removal-log ~/.ctxfold
  ctxfold gateway --port 8787 --mode compact --store redis://127.0.0.1:6379
  ctxfold gateway --upstream openai=https://openrouter.ai/api/v1
  ANTHROPIC_BASE_URL=http://127.0.0.1:8787 my-agent
  OPENAI_BASE_URL=http://127.0.0.1:8787/v1 my-agent

The page is at /ctxfold.
On any address but loopback the gateway requires a token in CTXFOLD_GATEWAY_TOKEN, of 16 to 128 letters, digits, - and _; requests send it in the header x-ctxfold-token, or as the path prefix /token/<token>.

${SERVICE_EXIT_CODES_HELP}`;

const RUN_EXAMPLES = `
Examples:
  ctxfold run claude
  ctxfold run --mode compact gemini -p "fix the tests"
  ctxfold run sh -c 'codex -c openai_base_url="$OPENAI_BASE_URL"'
  ctxfold run \\
    --upstream vertex=https://us-east5-aiplatform.googleapis.com/v1 claude

Options of ctxfold stand before the command. The command gets ANTHROPIC_BASE_URL, OPENAI_BASE_URL, OPENAI_API_BASE, GOOGLE_GEMINI_BASE_URL and CODE_ASSIST_ENDPOINT. Where one is already set, the gateway forwards to its URL. Codex reads none of them. With an upstream of that name it also gets ANTHROPIC_VERTEX_BASE_URL (vertex), ANTHROPIC_BEDROCK_BASE_URL (bedrock), ANTHROPIC_FOUNDRY_BASE_URL (foundry), AZURE_OPENAI_ENDPOINT (azure) and OLLAMA_HOST (ollama). When the command has ended, ctxfold prints what was saved, and exits with its exit code.`;

/** Adds the options that both commands have. */
function addGatewayOptions(command: Command, port: number): Command {
  return command
    .addOption(
      new Option(
        '--mode <mode>',
        'observe: forward requests unchanged and show what could be saved; compact: compact them',
      )
        .choices(['observe', 'compact'])
        .default('observe'),
    )
    .option(
      '--dry <conversation>',
      'only observe this conversation, by name or id; repeatable',
      collectValues,
    )
    .option(
      '--port <number>',
      'port to listen on; 0 for any free port',
      wholeNumber(0, 65_535),
      port,
    )
    .option(
      '--upstream <name=url>',
      'where to forward requests: anthropic, openai, gemini, or a name that starts the path; repeatable',
      collectValues,
    )
    .option(
      '--context-limit <tokens>',
      'context window of the models (default: by model name)',
      wholeNumber(1),
    )
    .option('--workspace <directory>', 'base of relative paths in tool calls')
    .option('--removal-log <directory>', 'where to keep removed content, for `ctxfold mcp`')
    .option(
      '--store <where>',
      'where to keep conversation state across restarts and gateways: a directory, redis://… or postgres://…',
    );
}

/** Creates the command `gateway`, which runs until it is terminated. */
export function createGatewayCommand(): Command {
  const command = new Command('gateway').description(
    'Runs a proxy between agents and providers, for Anthropic Messages, OpenAI Responses and Chat ' +
      'Completions, Gemini and Ollama. Forwards requests unchanged, unless --mode compact is given. Its page shows ' +
      'what each call was sent, with ctxfold and without.',
  );
  return addGatewayOptions(command, 8787)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addHelpText('after', GATEWAY_EXAMPLES)
    .action(async (given: GatewayArguments) => {
      const { runGateway } = await import('./run-gateway.js');
      const token = process.env['CTXFOLD_GATEWAY_TOKEN'];
      process.exitCode = await runGateway({ ...readGatewayOptions(given), token });
    });
}

/** Creates the command `run`, which exits with the command that it runs. */
export function createRunCommand(): Command {
  const command = new Command('run').description(
    'Starts a gateway on a free port, runs a command with the variables by which agents find their ' +
      'provider, and exits with it. Forwards signals.',
  );
  return addGatewayOptions(command, 0)
    .argument('<command...>', 'the agent and its arguments')
    .passThroughOptions()
    .addHelpText('after', RUN_EXAMPLES)
    .action(async (words: readonly string[], given: GatewayArguments) => {
      const { runBehindGateway } = await import('./run-gateway.js');
      process.exitCode = await runBehindGateway(words, readGatewayOptions(given));
    });
}

/** Maps parsed arguments to gateway options. @throws UsageError for an invalid `--upstream` */
function readGatewayOptions(given: GatewayArguments): GatewayOptions {
  const { upstream = [], workspace, removalLog, ...options } = given;
  const upstreams = upstream.map((text) => {
    const [, name, url] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (name === undefined || url === undefined || !isPlainUrl(url))
      throw new UsageError(
        `--upstream: expected a name and ${PLAIN_URL}, such as openai=https://host/v1.`,
      );
    return [name, url] as const;
  });
  return {
    ...options,
    upstreams: Object.fromEntries(upstreams),
    workspaceRoot: workspace,
    removalLogDirectory: removalLog,
  };
}
