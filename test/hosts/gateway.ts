// Runs the package's gateway between a client and the scripted provider, in a separate process.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

/** A running gateway. */
export interface RunningGateway {
  /** Without a path. */
  readonly url: string;
  close(): Promise<void>;
}

const URL_IN_LINE = /http:\/\/127\.0\.0\.1:\d+/;

/** Starts a compacting gateway with the provider at `url` as upstream. */
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
    // Drain further output, which would otherwise fill the pipe.
    child.stderr.resume();
    const close = (): Promise<void> => {
      child.kill('SIGTERM');
      return closed;
    };
    return { url: found, close };
  }
  throw new Error('The gateway ended before it listened.');
}
