import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  runBehindGateway,
  runGateway,
  shellLine,
  upstreamsOf,
  variablesOf,
} from '../../../src/cli/gateway/run-gateway.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

describe('variablesOf', () => {
  it('points clients to the gateway, with the name of an upstream in front of each path', () => {
    expect(variablesOf('http://127.0.0.1:1', {})).toEqual({
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1/anthropic',
      OPENAI_BASE_URL: 'http://127.0.0.1:1/openai',
      OPENAI_API_BASE: 'http://127.0.0.1:1/openai',
      GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1/gemini',
      CODE_ASSIST_ENDPOINT: 'http://127.0.0.1:1/code-assist',
      NO_PROXY: '127.0.0.1',
      no_proxy: '127.0.0.1',
    });
  });

  it.each([
    [{ NO_PROXY: 'intra.example' }, 'intra.example,127.0.0.1'],
    [{ NO_PROXY: 'b.example', no_proxy: 'a.example' }, 'a.example,127.0.0.1'],
    [{ NO_PROXY: 'b.example', no_proxy: '' }, 'b.example,127.0.0.1'],
    [{ NO_PROXY: '', no_proxy: '' }, '127.0.0.1'],
    [{ NO_PROXY: '*' }, '*'],
  ])('adds the gateway to the exemptions from a proxy: %o', (env, exempt) => {
    const { NO_PROXY, no_proxy } = variablesOf('http://127.0.0.1:1', env);
    expect([NO_PROXY, no_proxy]).toEqual([exempt, exempt]);
  });
});

it('variablesOf points clients of a provider without a default address to the gateway if its upstream is given', () => {
  const upstreams = { vertex: 'https://a.invalid/v1', ollama: 'http://127.0.0.1:11434' };
  const variables = variablesOf('http://127.0.0.1:1', {}, upstreams);
  expect(variables).toMatchObject({
    ANTHROPIC_VERTEX_BASE_URL: 'http://127.0.0.1:1/vertex',
    OLLAMA_HOST: 'http://127.0.0.1:1/ollama',
  });
  expect(variables).not.toHaveProperty('ANTHROPIC_BEDROCK_BASE_URL');
});

describe('upstreamsOf', () => {
  it('uses variables that are set, and the newer of two names', () => {
    const env = {
      OPENAI_BASE_URL: 'http://new/v1',
      OPENAI_API_BASE: 'http://old/v1',
      ANTHROPIC_BASE_URL: '',
    };
    expect(upstreamsOf(env)).toEqual({
      'code-assist': 'https://cloudcode-pa.googleapis.com',
      openai: 'http://new/v1',
    });
  });
});

describe('upstreamsOf, for a variable that is no plain URL', () => {
  it.each(['nowhere', 'ftp://host', 'http://host/v1?key=1', 'http://me:secret@host'])(
    'names the variable, unless another upstream is given: %s',
    (url) => {
      const env = {
        OPENAI_BASE_URL: 'http://new/v1',
        OPENAI_API_BASE: url,
        ANTHROPIC_BASE_URL: url,
      };
      expect(() => upstreamsOf(env)).toThrow(/^ANTHROPIC_BASE_URL: expected an http/);
      expect(upstreamsOf(env, { anthropic: 'http://given' })).toMatchObject({
        anthropic: 'http://given',
        openai: 'http://new/v1',
      });
    },
  );
});

describe('shellLine', () => {
  it.each([
    [['claude', '-p', 'x=1', 'C:\\a\\b'], 'claude -p x=1 C:\\a\\b'],
    [['C:\\Program Files\\a.cmd', ''], '"C:\\Program Files\\a.cmd" ""'],
    [['say "hi" & del'], '"say ""hi"" & del"'],
    [['in a folder\\', 'a \\"b'], '"in a folder\\\\" "a \\\\""b"'],
  ])('quotes words: %j', (words, line) => {
    expect(shellLine(words)).toBe(line);
  });
});

describe('runGateway', () => {
  it('prints failures, and waits 25 s for open answers after SIGTERM', async () => {
    onTestFinished(() => void vi.restoreAllMocks());
    const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const before = process.listenerCount('SIGTERM');
    // No server listens there.
    const code = runGateway({ upstreams: { openai: 'http://127.0.0.1:1' } });
    await expect.poll(() => process.listenerCount('SIGTERM')).toBe(before + 1);
    const [, url = ''] = /listening on (\S+)/.exec(String(printed.mock.calls[0]?.[0])) ?? [];
    expect((await fetch(`${url}/v1/models`)).status).toBe(502);
    expect(printed).toHaveBeenLastCalledWith('ctxfold: openai did not answer (ECONNREFUSED)\n');
    const timers = vi.spyOn(globalThis, 'setTimeout');
    process.listeners('SIGTERM').at(-1)!('SIGTERM');
    expect(await code).toBe(0);
    expect(timers.mock.calls.map(([, delay]) => delay)).toContain(25_000);
  });
});

describe('runBehindGateway', () => {
  it('says before the command runs that its store cannot be written', async () => {
    onTestFinished(() => void vi.restoreAllMocks());
    const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const store = join(file, 'below');
    expect(await runBehindGateway([process.execPath, '-e', ''], { store })).toBe(0);
    expect(printed.mock.calls.map(([text]) => String(text))).toEqual([
      expect.stringMatching(/^ctxfold: The store failed \(ENOTDIR/),
      expect.stringMatching(/^ctxfold: observe: /),
      expect.stringMatching(/^ctxfold: no conversation with tools came through the gateway\./),
    ]);
  });

  it.each([
    ['/none/such', 127, 'ENOENT'],
    [process.cwd(), 126, 'EACCES'],
  ])('says only that it cannot be run of the command %s', async (command, code, cause) => {
    onTestFinished(() => void vi.restoreAllMocks());
    const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(await runBehindGateway([command], {})).toBe(code);
    const last = String(printed.mock.calls.at(-1)?.[0]);
    expect(last).toBe(`ctxfold: ${command} cannot be run (${cause})\n`);
  });

  it.each(['observe', 'compact'] as const)('ends with what is saved, in mode %s', async (mode) => {
    onTestFinished(() => void vi.restoreAllMocks());
    const upstream = createServer((_request, response) => response.end('{}')).listen(0);
    onTestFinished(() => void upstream.close());
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const agent = `
      const log = Array.from({ length: 900 }, (_, at) => at + ' compiled in ' + at * 7 + ' ms').join('\\n');
      const body = JSON.stringify({
        model: 'claude-opus-5-5',
        tools: [{ name: 'bash', input_schema: { type: 'object' } }],
        messages: [
          { role: 'user', content: 'Build.' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'bash', input: { command: 'make' } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: log }] },
        ],
      });
      fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', body })
        .then((answer) => answer.text());`;
    const upstreams = { anthropic: `http://127.0.0.1:${port}` };
    const options = { mode, upstreams, engine: 'inline' as const };
    expect(await runBehindGateway([process.execPath, '-e', agent], options)).toBe(0);
    const last = String(printed.mock.calls.at(-1)?.[0]);
    expect(last).toMatch(
      /^ctxfold: 1 call: with ctxfold [\d,]+ tokens of messages instead of [\d,]+, \d+ % less, \$\S+ instead of \$/,
    );
    expect(last.includes('--mode compact compacts')).toBe(mode === 'observe');
  });

  it('listens for signals before the command starts, which could not be forwarded to it otherwise', async () => {
    const before = process.listenerCount('SIGTERM');
    const listening: number[] = [];
    const onStart = (): void => void listening.push(process.listenerCount('SIGTERM'));
    subscribe('child_process', onStart);
    onTestFinished(() => void unsubscribe('child_process', onStart));
    expect(await runBehindGateway([process.execPath, '-e', ''], {})).toBe(0);
    expect(listening).toEqual([before + 1]);
  });

  it('leaves Ctrl-C to the terminal, which signals the command itself, also if its input is a pipe', async () => {
    const { isTTY } = process.stderr;
    onTestFinished(() => void Object.assign(process.stderr, { isTTY }));
    Object.assign(process.stderr, { isTTY: true });
    const before = process.listenerCount('SIGINT');
    const end = join(temporaryFolder(), 'end');
    const wait = `const wait = setInterval(() => fs.existsSync(process.argv[1]) && clearInterval(wait), 20)`;
    const code = runBehindGateway([process.execPath, '-e', wait, end], {});
    await expect.poll(() => process.listenerCount('SIGINT')).toBe(before + 1);
    process.listeners('SIGINT').at(-1)!('SIGINT');
    writeFileSync(end, '');
    expect(await code).toBe(0);
  });
});
