// A gateway of the package between a client and the provider of the check, in a process of its own.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

/** A gateway that listens. */
export interface RunningGateway {
  /** Without a path. */
  readonly url: string;
  close(): Promise<void>;
}

const URL_IN_LINE = /http:\/\/127\.0\.0\.1:\d+/;

/** Starts one that compacts, and sends all that comes to the provider at `url`. */
export async function startGateway(
  packageFolder: string,
  url: string,
  contextWindow: number,
): Promise<RunningGateway> {
  const upstreams = [`anthropic=${url}`, `openai=${url}/v1`, `gemini=${url}`];
  const child = spawn(
    process.execPath,
    [
      ...[join(packageFolder, 'dist/cli/main.js'), 'gateway', '--mode', 'compact'],
      ...['--port', '0', '--context-limit', String(contextWindow)],
      ...upstreams.flatMap((upstream) => ['--upstream', upstream]),
    ],
    { stdio: ['ignore', 'inherit', 'pipe'], env: { PATH: process.env['PATH'] } },
  );
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  for await (const line of createInterface(child.stderr)) {
    const [found] = URL_IN_LINE.exec(line) ?? [];
    if (found === undefined) continue;
    // What it says from here on is read by nobody, and has to go somewhere all the same.
    child.stderr.resume();
    const close = (): Promise<void> => {
      child.kill('SIGTERM');
      return closed;
    };
    return { url: found, close };
  }
  throw new Error('The gateway ended before it listened.');
}
