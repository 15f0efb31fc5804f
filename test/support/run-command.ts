// Runs the built command: in this process, for most of what a process of its own takes is loading the code again, or as
// users do. `npm run build` comes first.

import { spawn } from 'node:child_process';
import { Console } from 'node:console';
import { once } from 'node:events';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

/** The built command. */
export const COMMAND: string = path.resolve('dist/cli/main.js');

/** What a run came to. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Variables = Readonly<Record<string, string>>;

/**
 * Runs the command in a process of its own to its end: for what only a process shows, as that it ends by itself.
 *
 * @param env variables that it has besides those of this process
 */
export async function spawnCommand(args: readonly string[], env: Variables = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [COMMAND, ...args], { env: { ...process.env, ...env } });
  child.stdin.end();
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await closed;
  return { code, stdout, stderr };
}

let last: Promise<unknown> = Promise.resolve();
let started = 0;

/**
 * Runs the command here, one run at a time, for it prints to what the whole process prints to.
 *
 * @param env variables that it has besides those of this process
 */
export function runCommand(args: readonly string[], env: Variables = {}): Promise<Outcome> {
  const run = last.then(() => runHere(args, env));
  last = run.catch(() => undefined);
  return run;
}

async function runHere(args: readonly string[], env: Variables): Promise<Outcome> {
  const { argv, env: variables, exitCode, stdout, stderr } = process;
  const { console: terminal } = globalThis;
  const [out, errors] = [capture(stdout), capture(stderr)];
  process.argv = [process.execPath, COMMAND, ...args];
  process.env = { ...variables, ...env };
  process.exitCode = undefined;
  globalThis.console = new Console(out.stream, errors.stream);
  try {
    started += 1;
    // The command is what its file does when it is loaded; what it imports is loaded once.
    await import(`${pathToFileURL(COMMAND).href}?run=${started}`);
    return {
      code: Number(Reflect.get(process, 'exitCode') ?? 0),
      stdout: out.end(),
      stderr: errors.end(),
    };
  } finally {
    out.release();
    errors.release();
    globalThis.console = terminal;
    Object.assign(process, { argv, env: variables, exitCode });
  }
}

interface Captured {
  /** For a console, which does not write where the process does. */
  readonly stream: PassThrough;
  readonly end: () => string;
  readonly release: () => void;
}

/** Keeps what is written to a stream of the process from getting out, until it is released. */
function capture(target: NodeJS.WriteStream): Captured {
  const chunks: string[] = [];
  const listeners = target.listeners('error');
  const write = target.write.bind(target);
  const stream = new PassThrough();
  stream.write = (...[chunk, ...rest]: readonly unknown[]): boolean => {
    chunks.push(typeof chunk === 'string' ? chunk : String(chunk));
    const done = rest.find((part): part is () => void => typeof part === 'function');
    if (done !== undefined) queueMicrotask(done);
    return true;
  };
  target.write = stream.write;
  return {
    stream,
    end: () => chunks.join(''),
    release: () => {
      target.write = write;
      for (const listener of target.listeners('error')) {
        if (!listeners.includes(listener)) target.off('error', listener as () => void);
      }
    },
  };
}
