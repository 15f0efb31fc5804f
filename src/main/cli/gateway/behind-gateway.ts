// Runs a command behind a gateway of its own: with the variables by which agents find their provider, and its signals.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { startGateway } from '../../../gateway.js';
import type { GatewayOptions } from '../../../gateway.js';
import { gatewayPage } from './gateway-page.js';
import { tell } from '../terminal/print.js';

/** The variables that say where a provider is, with the name of its upstream. */
const VARIABLES = [
  ['ANTHROPIC_BASE_URL', 'anthropic'],
  ['OPENAI_BASE_URL', 'openai'],
  ['OPENAI_API_BASE', 'openai'],
  ['GOOGLE_GEMINI_BASE_URL', 'gemini'],
  ['CODE_ASSIST_ENDPOINT', 'code-assist'],
] as const;

const CODE_ASSIST = 'https://cloudcode-pa.googleapis.com';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** What a shell says of a command that there is none of, and of one that may not be run. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

/** Runs a command; resolves to its exit code, or 128 and the number of the signal that ended it. */
export async function runBehindGateway(
  [command = '', ...args]: readonly string[],
  options: GatewayOptions,
): Promise<number> {
  const upstreams = { ...upstreamsOf(process.env), ...options.upstreams };
  const gateway = await startGateway({ ...options, upstreams, page: gatewayPage });
  tell(`${options.mode ?? 'observe'}: ${gateway.url}/ctxfold`);
  try {
    const child = spawn(command, args, {
      stdio: 'inherit',
      env: { ...process.env, ...variablesOf(gateway.url) },
    });
    return await exitCodeOf(child, command);
  } finally {
    await gateway.close();
  }
}

/** The variables that lead to a gateway. */
export function variablesOf(url: string): Record<string, string> {
  return Object.fromEntries(VARIABLES.map(([name, upstream]) => [name, `${url}/${upstream}`]));
}

/** Where requests go by the variables that are set. */
export function upstreamsOf(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const upstreams: Record<string, string> = { 'code-assist': CODE_ASSIST };
  for (const [name, upstream] of [...VARIABLES].reverse()) {
    const value = env[name];
    if (value !== undefined && value !== '') upstreams[upstream] = value;
  }
  return upstreams;
}

async function exitCodeOf(child: ChildProcess, command: string): Promise<number> {
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  // A terminal sends an interrupt to the command as well: it is for the command to end, and this follows.
  const ignore = (): void => undefined;
  for (const signal of SIGNALS)
    process.on(signal, signal === 'SIGINT' && process.stdin.isTTY ? ignore : pass);
  try {
    return await new Promise<number>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        tell(`${command} cannot be run (${error.code ?? error.name})`);
        resolve(error.code === 'ENOENT' ? NOT_FOUND : NOT_RUNNABLE);
      });
      child.once('exit', (code, signal) => {
        resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']);
      });
    });
  } finally {
    for (const signal of SIGNALS) {
      process.off(signal, pass);
      process.off(signal, ignore);
    }
  }
}
