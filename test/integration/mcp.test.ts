// `ctxfold mcp` as a client runs it: the built command over stdio, on a session's removal log. Requires `npm run build`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import {
  aiContent,
  createCompactor,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from 'ctxfold';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../support/run-command.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const COMMAND = path.resolve('dist/cli/main.js');
const ORIGINAL = 'first \u0000\ud800\nsecond 😀\n'.repeat(50);

function temporaryPath(): string {
  return path.join(temporaryFolder(), 'session.removals.jsonl');
}

async function connect(...args: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [COMMAND, 'mcp', ...args],
      stderr: 'ignore',
    }),
  );
  onTestFinished(() => client.close());
  return client;
}

async function answerOf(client: Client, name: string, given: object): Promise<string> {
  const { content } = await client.callTool({ name, arguments: { ...given } });
  const [block] = content;
  return block?.type === 'text' ? block.text : '';
}

describe('ctxfold mcp', () => {
  it('gives back what a session prunes while it runs', async () => {
    const removalLogPath = temporaryPath();
    const client = await connect('--removal-log', temporaryPath(), '--removal-log', removalLogPath);
    expect(await answerOf(client, 'list_removed', {})).toBe('Nothing was removed so far.');

    const compactor = createCompactor({
      settings: {
        'compression.density.recencyPruning': true,
        'compression.density.recencyRetention': 1,
        'compression.density.placeholder': 'informative',
      },
    });
    onTestFinished(() => compactor.close());
    const session = await compactor.createSession({ removalLogPath, edits: 'every-turn' });
    session.history.addAll([
      humanText('Look.'),
      aiContent([toolCall('call_1', 'look', { path: 'a.ts' })]),
      toolContent([toolResponse('call_1', 'look', ORIGINAL)]),
      aiContent([toolCall('call_2', 'look', { path: 'b.ts' })]),
      toolContent([toolResponse('call_2', 'look', 'short')]),
    ]);
    await session.ensureCompressionBeforeSend('p');
    const placeholder = JSON.stringify(session.history.getAll()[2]);
    const id = /recall\(\\"(.*)\\"\)/.exec(placeholder)?.[1];

    expect(await answerOf(client, 'recall', { id })).toBe(ORIGINAL);
    expect(await answerOf(client, 'list_removed', {})).toContain('"call_1" [look');
  });

  it('serves only the session that it was told, and names none when there are several', async () => {
    const removalLogPath = temporaryPath();
    const settings = {
      'compression.density.recencyPruning': true,
      'compression.density.recencyRetention': 1,
    } as const;
    for (const sessionId of ['session-of-ann', 'session-of-bob']) {
      const compactor = createCompactor({ settings, offload: 'inline' });
      const history = ['call_1', 'call_2'].flatMap((id) => [
        aiContent([toolCall(id, 'look', { path: 'a.ts' })]),
        toolContent([toolResponse(id, 'look', `secret of ${sessionId}`)]),
      ]);
      const session = await compactor.createSession({
        sessionId,
        removalLogPath,
        history,
        edits: 'every-turn',
      });
      await session.ensureCompressionBeforeSend('p');
      await compactor.close();
    }
    const given = ['--removal-log', removalLogPath];
    const ofAnn = await connect(...given, '--session', 'session-of-ann');
    expect(await answerOf(ofAnn, 'recall', { id: 'call_1' })).toBe('secret of session-of-ann');
    expect(await answerOf(ofAnn, 'list_removed', {})).toMatch(/^1 of 1:/);
    const ofAll = await connect(...given, '--all-sessions');
    expect(await answerOf(ofAll, 'recall', { id: 'call_1' })).toBe('secret of session-of-bob');

    const { code, stdout, stderr } = await runCommand(['mcp', ...given]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/--session <id>.*--all-sessions/);
    expect(stderr).not.toMatch(/ann|bob/);
    const wrong = [
      ['--session', ''],
      ['--session', 'x', '--all-sessions'],
    ];
    for (const args of wrong) {
      expect((await runCommand(['mcp', ...given, ...args])).code).toBe(2);
    }
  });

  it('writes nothing but the protocol, and ends when its input does', async () => {
    const child = spawn(process.execPath, [COMMAND, 'mcp', '--removal-log', temporaryPath()]);
    const closed = once(child, 'close') as Promise<[code: number | null]>;
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    child.stdin.write('no protocol\n');
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      },
    };
    child.stdin.write(`${JSON.stringify(initialize)}\n`);
    await once(child.stdout, 'readable');
    child.stdin.end();
    const [[code], [stdout, stderr]] = await Promise.all([closed, output]);
    expect(code).toBe(0);
    const lines = stdout.split('\n').filter((line) => line !== '');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({ jsonrpc: '2.0', id: 1 }),
    );
    expect(stderr).toContain('does not exist yet');
  });

  it.each([
    ['no removal log', []],
    ['a device', ['--removal-log', '/dev/null']],
  ])('refuses %s', async (_, args) => {
    const child = spawn(process.execPath, [COMMAND, 'mcp', ...args]);
    child.stdin.end();
    const closed = once(child, 'close') as Promise<[code: number | null]>;
    const [[code], stdout, stderr] = await Promise.all([
      closed,
      text(child.stdout),
      text(child.stderr),
    ]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('--removal-log');
  });
});
