// Hostile JSON-RPC on the standard input of `ctxfold mcp`: a single line would have ended the server or kept it from
// answering the next. Requires `npm run build`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HOSTILE_VALUES, hostilePlacements } from '../support/hostile-values.js';
import { runs } from '../support/scale.js';
import { spread } from './refusals.js';

const COMMAND = path.resolve('dist/cli/main.js');

const initialize = (): object => ({
  jsonrpc: '2.0',
  id: 'first',
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'attack', version: '1' },
  },
});

const recall = (): object => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'recall', arguments: { id: 'call_1' } },
});

const list = (): object => ({
  jsonrpc: '2.0',
  id: 8,
  method: 'tools/call',
  params: { name: 'list_removed', arguments: { limit: 2, cursor: '1' } },
});

/** Lines that are not JSON, or far too much of it. */
const RAW_LINES = [
  '',
  '{',
  'null',
  '[]',
  '\0\0\0',
  '\ufeff{}',
  '{"jsonrpc":"2.0"',
  JSON.stringify([recall(), list()]),
  `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
  '{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}',
  `{"jsonrpc":"2.0","id":${'9'.repeat(1_000)},"method":"tools/list"}`,
  '{"jsonrpc":"2.0","id":1,"__proto__":{"method":"tools/list"}}',
  '{"jsonrpc":"2.0","id":1,"method":"__proto__"}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__"}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"constructor","arguments":{}}}',
  '{"jsonrpc":"2.0","id":1,"result":{}}',
  '{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
];

function stringified(value: unknown): readonly string[] {
  try {
    const json = JSON.stringify(value) as string | undefined;
    return json === undefined ? [] : [json];
  } catch {
    return [];
  }
}

/** Without `readline`: some versions of Node also split at U+2028, which JSON may contain unescaped. */
async function* linesOf(output: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of output.setEncoding('utf8')) {
    const lines = `${rest}${String(chunk)}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

describe('ctxfold mcp', () => {
  it('answers the next request, whatever it was sent before', async () => {
    const server = spawn(process.execPath, [
      COMMAND,
      'mcp',
      '--removal-log',
      path.join(tmpdir(), 'ctxfold-no-such-file.jsonl'),
    ]);
    onTestFinished(() => {
      server.kill();
    });
    server.stderr.resume();
    const answers = linesOf(server.stdout);
    const send = (line: string): void => {
      server.stdin.write(`${line}\n`);
    };
    /** Checks that each line is a complete protocol message; resolves with the answer to `id`. */
    const answerTo = async (id: string): Promise<unknown> => {
      for (;;) {
        const { value, done } = await answers.next();
        expect(done, 'the server ended').toBe(false);
        const message = JSON.parse(value as string) as { jsonrpc: string; id?: unknown };
        expect(message.jsonrpc).toBe('2.0');
        if (message.id === id) return message;
      }
    };
    send(JSON.stringify(initialize()));
    await answerTo('first');
    send('{"jsonrpc":"2.0","method":"notifications/initialized"}');

    // Ten thousand characters test the same as a million a thousand times.
    const values = HOSTILE_VALUES.filter(({ name }) => !name.startsWith('a million'));
    const attacks = [initialize, recall, list].flatMap((make) =>
      hostilePlacements(make, values).flatMap((attack) => stringified(attack.make())),
    );
    const lines = [...RAW_LINES, ...spread(attacks, runs(1_500, 60))];
    for (const [at, line] of lines.entries()) {
      send(line.replaceAll('\n', ' '));
      if (at % 20 !== 0 && at !== lines.length - 1) continue;
      const id = `probe ${at}`;
      send(JSON.stringify({ ...recall(), id }));
      expect(await answerTo(id), line.slice(0, 200)).toMatchObject({
        result: { isError: true, content: [{ type: 'text' }] },
      });
    }
    server.stdin.end();
    expect(await once(server, 'exit')).toEqual([0, null]);
  });
});
