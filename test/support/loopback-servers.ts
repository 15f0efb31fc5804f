// Redis and PostgreSQL for tests, on ports and in directories of their own on loopback. Where a server is not installed there is
// none, and who asked says so; they end with who asked for them.

import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { once } from 'node:events';

/** A server that runs. */
export interface LoopbackServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Whether a command is installed. */
export function isInstalled(command: string): boolean {
  return pathOf(command) !== undefined;
}

function pathOf(command: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, command)).find((path) => existsSync(path));
}

/** Starts Redis, which keeps nothing. */
export async function startRedis(): Promise<LoopbackServer> {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  await untilSaid(server.stdout, 'Ready to accept connections');
  return { port, stop: () => end(server, 'SIGTERM') };
}

/** Starts PostgreSQL in a directory that goes with it. It refuses to run as root: who is gets another user's rights for it. */
export async function startPostgres(): Promise<LoopbackServer> {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'ctxfold-postgres-'));
  const user = process.getuid?.() === 0 ? ordinaryUser() : {};
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid ?? user.uid);
  const data = join(directory, 'data');
  const quiet = { ...user, stdio: 'ignore' } as const;
  execFileSync('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'], quiet);
  const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', directory, '-F'];
  const server = spawn('postgres', args, { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  await untilSaid(server.stderr, 'ready to accept connections');
  const stop = async (): Promise<void> => {
    await end(server, 'SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  };
  return { port, stop };
}

function ordinaryUser(): { readonly uid?: number; readonly gid?: number } {
  try {
    return {
      uid: Number(execFileSync('id', ['-u', 'postgres'])),
      gid: Number(execFileSync('id', ['-g', 'postgres'])),
    };
  } catch {
    return { uid: 65_534, gid: 65_534 };
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function untilSaid(output: NodeJS.ReadableStream, words: string): Promise<void> {
  let said = '';
  for await (const chunk of output) {
    said += String(chunk);
    if (said.includes(words)) break;
  }
  if (!said.includes(words)) throw new Error(`The server ended before it was ready:\n${said}`);
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null) return;
  server.kill(signal);
  await once(server, 'exit');
}
