// Redis and PostgreSQL on loopback ports and in temporary directories. Callers check whether they are installed. The
// servers stop with the process that started them.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Whether a command is installed. */
export function isInstalled(command) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => existsSync(join(folder, command)));
}

/**
 * Starts Redis. Its data survives a restart, but not `stop`.
 *
 * @param {string[]} more arguments of the server
 */
export async function startRedis(...more) {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'ctxfold-redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', ''];
  const kept = ['--dir', directory, '--appendonly', 'yes', '--appendfsync', 'no'];
  const start = async () => {
    const server = spawn('redis-server', [...args, ...kept, ...more], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await untilSaid(server.stdout, 'Ready to accept connections');
    return server;
  };
  return restartable(port, directory, 'SIGTERM', start);
}

/** Starts PostgreSQL; as another user when run as root, which PostgreSQL refuses. */
export async function startPostgres() {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'ctxfold-postgres-'));
  const user = process.getuid?.() === 0 ? ordinaryUser() : {};
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  const quiet = { ...user, stdio: 'ignore' };
  execFileSync('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'], quiet);
  const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', directory, '-F'];
  const start = async () => {
    const server = spawn('postgres', args, { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
    await untilSaid(server.stderr, 'ready to accept connections');
    return server;
  };
  // SIGINT: fast shutdown, without waiting for clients.
  return restartable(port, directory, 'SIGINT', start);
}

async function restartable(port, directory, signal, start) {
  let server = await start();
  const end = async () => {
    if (server.exitCode !== null) return;
    server.kill(signal);
    await once(server, 'exit');
  };
  return {
    port,
    restart: async () => {
      await end();
      server = await start();
    },
    stop: async () => {
      await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function ordinaryUser() {
  const idOf = (which) => Number(execFileSync('id', [which, 'postgres'], { stdio: 'pipe' }));
  try {
    return { uid: idOf('-u'), gid: idOf('-g') };
  } catch {
    return { uid: 65_534, gid: 65_534 };
  }
}

/** Below the ephemeral ports: the system could give one of those away before the server has started. */
export async function freePort() {
  for (;;) {
    const port = 16_384 + Math.floor(Math.random() * 16_384);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

async function untilSaid(output, words) {
  let said = '';
  await new Promise((resolve, reject) => {
    output.on('data', (chunk) => {
      if (said.length < 100_000) said += String(chunk);
      if (said.includes(words)) resolve();
    });
    output.once('end', () => reject(new Error(`It ended before it was ready:\n${said}`)));
  });
}
