// Runs the built command: in this process, because a process of its own spends most of its time loading code, or in a
// separate process, as users do. Requires `npm run build`.

import { spawn } from 'node:child_process';
import { Console } from 'node:console';
import { once } from 'node:events';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

/** The built command. */
export const COMMAND: string = path.resolve('dist/cli/main.js');

/** Variables that would make the output depend on where the tests run. */
const NEUTRAL = { FORCE_COLOR: '', TERM: '' };

/** The outcome of a run. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Variables = Readonly<Record<string, string>>;

/**
 * Runs the command in a separate process, for what only a process shows, such as exiting by itself.
 *
 * @param env additional environment variables
 */
export async function spawnCommand(args: readonly string[], env: Variables = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { ...process.env, ...NEUTRAL, ...env },
  });
  child.stdin.end();
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await closed;
  return { code, stdout, stderr };
}

let last: Promise<unknown> = Promise.resolve();
let started = 0;

/**
 * Runs the command in this process, one run at a time, because it writes to the process's output.
 *
 * @param env additional environment variables
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
  process.env = { ...variables, ...NEUTRAL, ...env };
  process.exitCode = undefined;
  globalThis.console = new Console(out.stream, errors.stream);
  try {
    started += 1;
    // Loading the file runs the command; the query forces a reload, while its imports stay cached.
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
  /** For a console, which would otherwise write past the capture. */
  readonly stream: PassThrough;
  readonly end: () => string;
  readonly release: () => void;
}

/** Captures what is written to a stream of the process until it is released. */
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
