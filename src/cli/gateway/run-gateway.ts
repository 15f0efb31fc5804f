// Runs a gateway: on its own, or together with a command, which gets environment variables that point it at the gateway, and the
// signals that this process receives.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { startGateway } from '../../gateway.js';
import type { Gateway, GatewayOptions } from '../../gateway.js';
import { EXIT } from '../terminal/exit-codes.js';
import { waitForTermination } from '../terminal/interruptible.js';
import { isPlainUrl, PLAIN_URL } from '../terminal/options.js';
import { printMessage } from '../terminal/print.js';
import { gatewayPage } from './gateway-page.js';

/** The environment variables from which agents read a provider's URL, with the name of the upstream that each stands for. */
const VARIABLES = [
  ['ANTHROPIC_BASE_URL', 'anthropic'],
  ['OPENAI_BASE_URL', 'openai'],
  ['OPENAI_API_BASE', 'openai'],
  ['GOOGLE_GEMINI_BASE_URL', 'gemini'],
  ['CODE_ASSIST_ENDPOINT', 'code-assist'],
] as const;

/**
 * The same for providers without one address for everybody: set only for upstreams that were given as an option. An address that is
 * already in such a variable is left alone, because Amazon's clients sign the address to which they send a request.
 */
const CLOUD_VARIABLES = [
  ['ANTHROPIC_VERTEX_BASE_URL', 'vertex'],
  ['ANTHROPIC_BEDROCK_BASE_URL', 'bedrock'],
  ['ANTHROPIC_FOUNDRY_BASE_URL', 'foundry'],
  ['AZURE_OPENAI_ENDPOINT', 'azure'],
  ['OLLAMA_HOST', 'ollama'],
] as const;

/** The logger of `gateway`. Not used by `run`, where the terminal belongs to the command. */
const PRINTING_LOGGER: GatewayOptions['logger'] = {
  debug: () => undefined,
  warn: printMessage,
  error: printMessage,
};

type Environment = Readonly<Record<string, string | undefined>>;

const CODE_ASSIST = 'https://cloudcode-pa.googleapis.com';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Grace period for open responses after a signal, as in `ctxfold worker`: orchestrators kill a process after 30 seconds. */
const DRAIN_MS = 25_000;
const NOTICE_MS = 1_000;
/** Exit codes of a shell for a command that does not exist or cannot be executed. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

/** Serves until the process is terminated; resolves to the exit code. */
export async function runGateway(options: GatewayOptions): Promise<number> {
  const gateway = await start({ ...options, logger: PRINTING_LOGGER });
  // Printed without the token, because the output of a service ends up in logs.
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

/** Runs a command; resolves to its exit code, or 128 plus the number of the signal that ended it. */
export async function runBehindGateway(
  [command = '', ...args]: readonly string[],
  options: GatewayOptions,
): Promise<number> {
  const upstreams = upstreamsOf(process.env, options.upstreams);
  const gateway = await start({ ...options, upstreams });
  printMessage(`${options.mode ?? 'observe'}: ${gateway.url}/ctxfold`);
  printIgnoredProxy();
  try {
    // On Windows, npm installs agents as batch files, which only a shell can start.
    const [file, ...rest] =
      process.platform === 'win32' ? [shellLine([command, ...args])] : [command, ...args];
    const child = spawn(file, rest, {
      shell: process.platform === 'win32',
      stdio: 'inherit',
      env: { ...process.env, ...variablesOf(gateway.url, process.env, upstreams) },
    });
    return await exitCodeOf(child, command);
  } finally {
    await gateway.close();
  }
}

/** Starts a gateway that reaches its upstreams through the proxy of the environment. */
function start(options: GatewayOptions): Promise<Gateway> {
  const { HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy } = process.env;
  const proxyEnv = { HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy };
  return startGateway({ ...options, proxyEnv, page: gatewayPage });
}

/** Warns that the proxy of the environment is ignored, if this version of Node cannot use it. */
function printIgnoredProxy(): void {
  const { HTTPS_PROXY, https_proxy = HTTPS_PROXY } = process.env;
  // Node added this option together with proxy support in its HTTP agents, so it serves as feature detection.
  if (!https_proxy || process.allowedNodeEnvironmentFlags.has('--use-env-proxy')) return;
  printMessage(
    `HTTPS_PROXY is not used: Node ${process.versions.node} has no proxies, 24.5 and newer have.`,
  );
}

/** Returns the environment variables that point an agent at a gateway, and keep the agent from using a proxy for it. */
export function variablesOf(
  url: string,
  env: Environment,
  upstreams: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { hostname } = new URL(url);
  const clouds = CLOUD_VARIABLES.filter(([, upstream]) => Object.hasOwn(upstreams, upstream));
  const known = env['no_proxy'] || env['NO_PROXY'];
  // Most programs understand `*` only if nothing else is listed.
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
 * Returns the given upstreams, and further ones that the environment names. If two variables name the same upstream, the first in the
 * table wins.
 *
 * @throws TypeError if a variable that is used is not a plain URL.
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

/** Returns a command line for the Windows shell, which expands nothing but variables within quotes. */
export function shellLine(words: readonly string[]): string {
  const quoted = (word: string): string =>
    `"${word.replace(/(\\*)(?="|$)/g, '$1$1').replaceAll('"', '""')}"`;
  return words.map((word) => (/^[\w./:=@\\-]+$/.test(word) ? word : quoted(word))).join(' ');
}

async function exitCodeOf(child: ChildProcess, command: string): Promise<number> {
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  // A terminal sends SIGINT to the child as well. Let the child decide what to do; this process exits when the child does.
  const ignore = (): void => undefined;
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  for (const signal of SIGNALS)
    process.on(signal, signal === 'SIGINT' && hasTerminal ? ignore : forward);
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
