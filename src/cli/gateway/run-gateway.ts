// Runs a gateway: on its own, or around a child command, which gets environment variables that point at the gateway, and signals.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { startGateway } from '../../gateway.js';
import type { Gateway, GatewayOptions } from '../../gateway.js';
import { EXIT } from '../terminal/exit-codes.js';
import { waitForTermination } from '../terminal/interruptible.js';
import { isPlainUrl, PLAIN_URL, withOptions } from '../terminal/options.js';
import { printMessage } from '../terminal/print.js';
import {
  formatCount,
  formatDollars,
  formatNumberOf,
  formatSaving,
} from '../terminal/text-layout.js';
import { gatewayPage } from './gateway-page.js';

/** Environment variables from which agents read the URL of a provider, with the name of its upstream. */
const VARIABLES = [
  ['ANTHROPIC_BASE_URL', 'anthropic'],
  ['OPENAI_BASE_URL', 'openai'],
  ['OPENAI_API_BASE', 'openai'],
  ['GOOGLE_GEMINI_BASE_URL', 'gemini'],
  ['CODE_ASSIST_ENDPOINT', 'code-assist'],
] as const;

/**
 * The same for providers without a URL that all customers share. Each is set only if its upstream is given as an option. A URL that is
 * already set is never taken over as an upstream, because Amazon's clients sign the host of their requests.
 */
const CLOUD_VARIABLES = [
  ['ANTHROPIC_VERTEX_BASE_URL', 'vertex'],
  ['ANTHROPIC_BEDROCK_BASE_URL', 'bedrock'],
  ['ANTHROPIC_FOUNDRY_BASE_URL', 'foundry'],
  ['AZURE_OPENAI_ENDPOINT', 'azure'],
  ['OLLAMA_HOST', 'ollama'],
] as const;

const PRINTING_LOGGER = {
  debug: () => undefined,
  warn: printMessage,
  error: printMessage,
} satisfies GatewayOptions['logger'];

type Environment = Readonly<Record<string, string | undefined>>;

const CODE_ASSIST = 'https://cloudcode-pa.googleapis.com';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Grace period for open responses after a signal, as in `ctxfold worker`. Orchestrators kill processes that run on after 30 seconds. */
const DRAIN_MS = 25_000;
/** Shutdowns that take longer are announced. */
const NOTICE_MS = 1_000;
/** Exit codes of a shell for a command that does not exist or cannot be executed. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

/** Serves until the process is terminated; resolves to the exit code. @throws UsageError if an option is invalid */
export async function runGateway(options: GatewayOptions): Promise<number> {
  const gateway = await withOptions(() => start({ ...options, logger: PRINTING_LOGGER }));
  // Hide the token: the output of a service usually ends up in logs.
  const url = gateway.url.replace(/\/token\/.*/, '/token/<token>');
  printMessage(`listening on ${url} (${options.mode ?? 'observe'})`);
  printMessage(`page: ${url}/ctxfold`);
  printIgnoredProxy();
  await waitForTermination();
  const late = setTimeout(() => {
    printMessage('waiting at most 25 s for open answers; a second signal ends them now');
  }, NOTICE_MS);
  await gateway.close(DRAIN_MS);
  clearTimeout(late);
  return EXIT.done;
}

/**
 * Runs a command, and prints what compacting saves in its conversations. Resolves to its exit code, or 128 plus the number of the
 * signal that ended it.
 *
 * @throws UsageError if an option, or a variable with a URL, is invalid
 */
export async function runBehindGateway(
  [command = '', ...args]: readonly string[],
  options: GatewayOptions,
): Promise<number> {
  // Once the command runs, it owns the terminal.
  let print: typeof printMessage | undefined = printMessage;
  const logger = { ...PRINTING_LOGGER, warn: (message: string) => print?.(message) };
  const { gateway, upstreams } = await withOptions(async () => {
    const named = upstreamsOf(process.env, options.upstreams);
    return { gateway: await start({ ...options, logger, upstreams: named }), upstreams: named };
  });
  printMessage(`${options.mode ?? 'observe'}: ${gateway.url}/ctxfold`);
  printIgnoredProxy();
  print = undefined;
  let code: number;
  try {
    // On Windows, npm installs agents as batch files, which only a shell can start.
    const [file, ...rest] =
      process.platform === 'win32' ? [shellLine([command, ...args])] : [command, ...args];
    const env = { ...process.env, ...variablesOf(gateway.url, process.env, upstreams) };
    const shell = process.platform === 'win32';
    code = await exitCodeOf(() => spawn(file, rest, { shell, stdio: 'inherit', env }), command);
  } finally {
    await gateway.close();
  }
  if (code !== NOT_FOUND && code !== NOT_RUNNABLE)
    printMessage(outcomeOf(gateway.costs(), options.mode));
  return code;
}

/** Returns what the conversations cost with compaction and without, as text. */
function outcomeOf(costs: ReturnType<Gateway['costs']>, mode: GatewayOptions['mode']): string {
  const sum = (valueOf: (of: (typeof costs)[number]) => number): number =>
    costs.reduce((total, of) => total + valueOf(of), 0);
  const calls = sum(({ requests }) => requests);
  if (calls === 0)
    return 'no conversation with tools came through the gateway. Does the command read the variables? See ctxfold run --help';
  const sent = sum(({ sentTokens }) => sentTokens);
  const without = sum(({ uncompacted }) => uncompacted.sentTokens);
  const price = sum(({ dollars }) => dollars?.without ?? 0);
  const left = sum(({ dollars }) => dollars?.with ?? 0);
  const money = price === 0 ? '' : `, ${formatDollars(left)} instead of ${formatDollars(price)}`;
  return (
    `${formatNumberOf(calls, 'call')}: with ctxfold ${formatCount(sent)} tokens of messages instead of ` +
    `${formatCount(without)}, ${formatSaving(without, sent)}${money}` +
    (mode === 'compact' ? '' : '. Observed only; --mode compact compacts')
  );
}

/** Starts a gateway that reaches its upstreams through the proxy of the environment. */
async function start(options: GatewayOptions): Promise<Gateway> {
  const { HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy } = process.env;
  const proxyEnv = { HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy };
  try {
    return await startGateway({ ...options, proxyEnv, page: gatewayPage });
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE')) throw cause;
    const message = `Port ${options.port} is in use: choose another with --port, or 0 for any free one.`;
    throw new Error(message, { cause });
  }
}

/** Prints a message if `HTTPS_PROXY` is set but this version of Node has no proxy support. */
function printIgnoredProxy(): void {
  const { HTTPS_PROXY, https_proxy = HTTPS_PROXY } = process.env;
  // Feature detection: Node added `--use-env-proxy` together with the `proxyEnv` option of its HTTP agents.
  if (!https_proxy || process.allowedNodeEnvironmentFlags.has('--use-env-proxy')) return;
  printMessage(
    `HTTPS_PROXY is not used: Node ${process.versions.node} has no proxies, 24.5 and newer have.`,
  );
}

/** Returns the environment variables that point an agent at a gateway and exempt the gateway from a proxy. */
export function variablesOf(
  url: string,
  env: Environment,
  upstreams: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { hostname } = new URL(url);
  const clouds = CLOUD_VARIABLES.filter(([, upstream]) => Object.hasOwn(upstreams, upstream));
  const known = env['no_proxy'] || env['NO_PROXY'];
  // Most clients recognize the wildcard `*` only as the whole value, so nothing may be appended to it.
  const exempt = known === '*' ? known : [known || [], hostname].flat().join(',');
  return {
    ...Object.fromEntries(
      [...VARIABLES, ...clouds].map(([name, upstream]) => [name, `${url}/${upstream}`]),
    ),
    NO_PROXY: exempt,
    no_proxy: exempt,
  };
}

/**
 * Returns the given upstreams, completed by those of the environment variables in `VARIABLES`. Given upstreams take precedence; of two
 * variables for one upstream, the first in the table does.
 *
 * @throws TypeError if a variable that is used does not hold a plain URL.
 */
export function upstreamsOf(
  env: Environment,
  given: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const upstreams: Record<string, string> = { ...given };
  for (const [name, upstream] of VARIABLES) {
    const value = env[name];
    if (!value || upstream in upstreams) continue;
    if (!isPlainUrl(value)) throw new TypeError(`${name}: expected ${PLAIN_URL}.`);
    upstreams[upstream] = value;
  }
  return { 'code-assist': CODE_ASSIST, ...upstreams };
}

/** Returns a command line for the Windows shell, quoted. Within quotes, that shell still expands variables, but nothing else. */
export function shellLine(words: readonly string[]): string {
  const quoted = (word: string): string =>
    `"${word.replace(/(\\*)(?="|$)/g, '$1$1').replaceAll('"', '""')}"`;
  return words.map((word) => (/^[\w./:=@\\-]+$/.test(word) ? word : quoted(word))).join(' ');
}

async function exitCodeOf(start: () => ChildProcess, command: string): Promise<number> {
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  // A terminal sends SIGINT to the child too, so forwarding would deliver it twice. This process exits when the child does.
  const ignore = (): void => undefined;
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  for (const signal of SIGNALS)
    process.on(signal, signal === 'SIGINT' && hasTerminal ? ignore : forward);
  // Only now: a signal without a listener would end this process, and leave the command running without its gateway.
  const child = start();
  try {
    return await new Promise<number>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        printMessage(`${command} cannot be run (${error.code ?? error.name})`);
        resolve(error.code === 'ENOENT' ? NOT_FOUND : NOT_RUNNABLE);
      });
      child.once('exit', (code, signal) => {
        resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']);
      });
    });
  } finally {
    for (const signal of SIGNALS) {
      process.off(signal, forward);
      process.off(signal, ignore);
    }
  }
}
