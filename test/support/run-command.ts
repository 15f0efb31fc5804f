// Runs the command as users do: the built file, in a process of its own. `npm run build` comes first.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';

/** The built command. */
export const COMMAND: string = path.resolve('dist/main/cli/main.js');

/** What a run came to. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the command to its end.
 *
 * @param env variables that it has besides those of this process
 */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [COMMAND, ...args], { env: { ...process.env, ...env } });
  child.stdin.end();
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await closed;
  return { code, stdout, stderr };
}
