// The commands `gateway` and `run` in separate processes, with the engine on its thread.

import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_TALKS, bodyOf, talk } from '../support/api-talks.js';
import { COMMAND, runCommand, spawnCommand } from '../support/run-command.js';

let upstream: Server;
let upstreamUrl: string;
const bodies: Buffer[] = [];

beforeAll(async () => {
  upstream = createServer((request, response) => {
    void buffer(request).then((body) => {
      bodies.push(body);
      response.end(JSON.stringify({ path: request.url }));
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
});

afterAll(async () => {
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
});

async function listens(child: ChildProcessWithoutNullStreams): Promise<string> {
  for await (const line of createInterface(child.stderr)) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('The gateway ended before it listened.');
}

describe('ctxfold gateway', () => {
  it('compacts on a thread of its own, and shuts down cleanly when it is told to', async () => {
    const [anthropic] = API_TALKS;
    const child = spawn(process.execPath, [
      COMMAND,
      ...['gateway', '--port', '0', '--mode', 'compact', '--upstream', `anthropic=${upstreamUrl}`],
    ]);
    const url = await listens(child);
    const messages = talk(anthropic!, 30);
    let given = 0;
    bodies.length = 0;
    for (let end = 3; end <= messages.length; end += 2) {
      const body = bodyOf(anthropic!, messages.slice(0, end));
      given += body.length;
      const answer = await fetch(`${url}/v1/messages`, { method: 'POST', body });
      expect(await answer.json()).toEqual({ path: '/v1/messages' });
    }
    const sent = bodies.reduce((sum, { length }) => sum + length, 0);
    expect(sent / given).toBeLessThan(0.7);
    expect(await (await fetch(`${url}/ctxfold`)).text()).toContain(
      '<title>ctxfold gateway</title>',
    );
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('names a port that is in use, and what to do', async () => {
    const { port } = upstream.address() as AddressInfo;
    const { code, stderr } = await runCommand(['gateway', '--port', `${port}`]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `ctxfold: Port ${port} is in use: choose another with --port, or 0 for any free one.\n`,
    );
  });

  it('refuses to listen anywhere but on loopback without a token', async () => {
    const { code, stderr } = await runCommand(['gateway', '--host', '0.0.0.0', '--port', '0']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/token/);
  });

  it.each([
    [['--store', 'foo://bar'], /got a URL/],
    [['--store', 'redis://:canary@['], /Expected the URL of a database/],
    [['--store', 'postgres://:canary@['], /Expected the URL of a database/],
    [['--upstream', 'v1=http://127.0.0.1'], /expected a name such as my-provider/],
    [['--workspace', ''], /workspaceRoot/],
  ])('says that an option is wrong: %j', async (given, message) => {
    for (const args of [
      ['gateway', '--port', '0', ...given],
      ['run', ...given, process.execPath, '-v'],
    ]) {
      const { code, stdout, stderr } = await runCommand(args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(message);
      expect(stderr).not.toContain('canary');
    }
  });

  it('prints its address without the token', async () => {
    const token = 'a-token-of-16-or-more';
    const child = spawn(process.execPath, [COMMAND, 'gateway', '--port', '0'], {
      env: { ...process.env, CTXFOLD_GATEWAY_TOKEN: token },
    });
    expect(await listens(child)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/token\/<token>$/);
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
});

const ASK = `
  const { ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GOOGLE_GEMINI_BASE_URL } = process.env;
  const bases = [ANTHROPIC_BASE_URL + '/v1', OPENAI_BASE_URL, GOOGLE_GEMINI_BASE_URL + '/v1beta'];
  const paths = ['/messages', '/chat/completions', '/models/m:generateContent'];
  const answers = await Promise.all(paths.map((path, at) => fetch(bases[at] + path, { method: 'POST', body: '{}' })));
  for (const answer of answers) console.log((await answer.json()).path);
  process.exitCode = 7;
`;

describe('ctxfold run', () => {
  const env = (): Record<string, string> => ({
    ANTHROPIC_BASE_URL: `${upstreamUrl}/a`,
    OPENAI_BASE_URL: `${upstreamUrl}/o/v1`,
    GOOGLE_GEMINI_BASE_URL: `${upstreamUrl}/g`,
  });

  it("routes a command's requests through a gateway to their provider, and exits as it does", async () => {
    const given = ['run', '--', process.execPath, '--input-type=module', '-e', ASK];
    const { code, stdout } = await spawnCommand(given, env());
    expect(stdout.trim().split('\n')).toEqual([
      '/a/v1/messages',
      '/o/v1/chat/completions',
      '/g/v1beta/models/m:generateContent',
    ]);
    expect(code).toBe(7);
  });

  it("passes everything after the command's name to the command", async () => {
    const show = ['-p', 'console.log(process.argv.slice(1).join(" "))', '--', '--mode', '--', '-h'];
    for (const before of [[], ['--mode', 'compact']]) {
      const { code, stdout } = await spawnCommand(['run', ...before, process.execPath, ...show]);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^--mode -- -h\n/)]);
    }
    const { code, stderr } = await runCommand(['run', '--none', process.execPath]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("unknown option '--none'")]);
  });

  it('refuses an environment variable with an invalid provider address', async () => {
    const args = ['run', process.execPath, '-v'];
    const { code, stderr } = await runCommand(args, { OPENAI_BASE_URL: 'ftp://canary' });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/OPENAI_BASE_URL: expected/)]);
    expect(stderr).not.toContain('canary');
  });

  it('forwards signals, and reports a command that does not exist', async () => {
    const wait = `process.on('SIGTERM', () => process.exit(9)); console.log('up'); setInterval(() => {}, 1000)`;
    const child = spawn(process.execPath, [COMMAND, 'run', '--', process.execPath, '-e', wait], {
      env: { ...process.env, ...env() },
    });
    const [first] = (await once(child.stdout, 'data')) as [Buffer];
    expect(String(first)).toMatch(/up/);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([9, null]);
    expect((await spawnCommand(['run', '--', '/none/such'])).code).toBe(127);
  });

  it('says that it uses no proxy where Node has none', async () => {
    const given = ['run', '--', process.execPath, '-e', ''];
    const { stderr } = await spawnCommand(given, { HTTPS_PROXY: 'http://127.0.0.1:1' });
    const hasProxies = process.allowedNodeEnvironmentFlags.has('--use-env-proxy');
    expect(stderr.includes('HTTPS_PROXY is not used')).toBe(!hasProxies);
  });
});
