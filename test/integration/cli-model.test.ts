// The built command with strategies that call a model, and a loopback server. Requires `npm run build`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { startLoopbackModel } from '../support/loopback-model.js';
import type { LoopbackAnswer } from '../support/loopback-model.js';
import { COMMAND, runCommand } from '../support/run-command.js';
import type { Outcome } from '../support/run-command.js';
import { PLAYS_ALL } from '../support/scale.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const RECORDED = path.resolve(
  'test/fixtures/transcripts/claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl',
);
const KEY = 'sk-correct-horse-battery-staple';

const SNAPSHOT: LoopbackAnswer = {
  kind: 'text',
  text: '<state_snapshot>\n<overall_goal>Finish the review.</overall_goal>\n</state_snapshot>',
};

const scratch = temporaryFolder(afterAll);

/** A recorded session and a window that is too small for it; by default only its start, which takes half the time. */
const SESSION = PLAYS_ALL ? RECORDED : path.join(scratch, 'first-lines.jsonl');
const CONTEXT_LIMIT = PLAYS_ALL ? 20_000 : 13_000;
if (!PLAYS_ALL) {
  writeFileSync(SESSION, readFileSync(RECORDED, 'utf8').split('\n').slice(0, 90).join('\n'));
}

function replay(...args: readonly string[]): Promise<Outcome> {
  return runCommand(['replay', SESSION, '--offload', 'inline', ...args], {
    TEST_KEY: KEY,
    EMPTY_KEY: '',
  });
}

function withModel(strategy: string, baseUrl: string): readonly string[] {
  return [
    ...['--strategy', strategy, '--base-url', baseUrl, '--model', 'loopback'],
    ...['--api-key-env', 'TEST_KEY', '--context-limit', String(CONTEXT_LIMIT)],
  ];
}

interface Report {
  readonly entries: number;
  readonly playedEntries: number;
  readonly compressionFailure: { readonly code: string; readonly reason: string | null } | null;
  readonly modelCalls: readonly ReportedWindow[];
  readonly end: ReportedWindow;
  readonly reclaimed: readonly { readonly rule: string; readonly tokens: number }[];
  readonly summarizer: { readonly requests: number; readonly inputTokens: number };
  readonly removals: { readonly records: number } | null;
  readonly failures: readonly string[];
}

interface ReportedWindow {
  readonly tokens: { readonly without: number; readonly with: number };
  readonly compressions: readonly {
    readonly outcome: string;
    readonly isByModel: boolean;
    readonly fallbackFrom: string | null;
  }[];
  readonly summarizer: { readonly requests: number };
}

const read = ({ stdout }: Outcome): Report => JSON.parse(stdout) as Report;

const windowsOf = ({ modelCalls, end }: Report): readonly ReportedWindow[] => [...modelCalls, end];

describe('ctxfold replay with a model', () => {
  test.each(['middle-out', 'one-shot'])('%s summarizes a recorded session', async (strategy) => {
    const server = await startLoopbackModel(SNAPSHOT);
    const outcome = await replay(...withModel(strategy, server.baseUrl), '--json');
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    const report = read(outcome);
    const windows = windowsOf(report);
    expect(report.playedEntries).toBe(report.entries);
    expect(windows.every(({ tokens }) => tokens.with <= CONTEXT_LIMIT)).toBe(true);
    expect(windows.flatMap(({ compressions }) => compressions)).toContainEqual(
      expect.objectContaining({ outcome: 'applied', isByModel: true }),
    );
    const { without, with: left } = report.end.tokens;
    const reclaimed = report.reclaimed.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(reclaimed).toBe(without - left);
    expect(report.reclaimed.map(({ rule }) => rule)).toContain('folded-entry');
    expect(server.requests.length).toBeGreaterThan(0);
    expect(report.summarizer).toMatchObject({
      requests: server.requests.length,
      inputTokens: 120 * server.requests.length,
    });
    expect(windows.reduce((sum, { summarizer }) => sum + summarizer.requests, 0)).toBe(
      server.requests.length,
    );
    for (const request of server.requests) {
      expect(request).toMatchObject({ model: 'loopback', messages: [{ role: 'system' }, {}] });
      expect(request.tools).toBeUndefined();
    }
  });

  test('the report for a person names the model and fits 80 columns', async () => {
    const { baseUrl } = await startLoopbackModel(SNAPSHOT);
    const { code, stdout } = await replay(...withModel('one-shot', baseUrl));
    expect(code).toBe(0);
    expect(stdout).toContain('summaries by loopback at http://127.0.0.1:');
    expect(stdout).toMatch(/\nsummaries +\d+ requests? · /);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('an unreachable model ends it with 5, one line, and the figures so far', async () => {
    // No server gets this port.
    const baseUrl = 'http://127.0.0.1:2/v1';
    const { code, stdout, stderr } = await replay(...withModel('one-shot', baseUrl), '--json');
    expect(code).toBe(5);
    expect(stderr).toMatch(
      /^ctxfold: one-shot: [^\n]* cannot connect to [^\n]*ECONNREFUSED[^\n]*\n$/,
    );
    const report = JSON.parse(stdout) as Report;
    expect(report.compressionFailure).toMatchObject({ code: 'SUMMARIZER_UNREACHABLE' });
    expect(report.modelCalls.length).toBeGreaterThan(0);
    expect(report.playedEntries).toBeLessThan(report.entries);
  });

  test.each([
    ['cut-off', { ...SNAPSHOT, finishReason: 'length' }],
    ['tool-call', { kind: 'tool-call', name: 'Bash' }],
  ] as const)('a summary rejected as %s ends it with 5', async (reason, answer) => {
    const { baseUrl } = await startLoopbackModel(answer);
    const outcome = await replay(...withModel('middle-out', baseUrl), '--json');
    expect(outcome.code).toBe(5);
    expect(outcome.stderr).toMatch(/^ctxfold: middle-out: [^\n]+\n$/);
    expect(read(outcome).compressionFailure).toMatchObject({ code: 'SUMMARY_REJECTED', reason });
  });

  test('the figures so far are there for a person too', async () => {
    const { baseUrl } = await startLoopbackModel({ kind: 'status', status: 404 });
    const { code, stdout, stderr } = await replay(...withModel('one-shot', baseUrl));
    expect(code).toBe(5);
    expect(stdout).toContain('history at the end');
    expect(stdout).toMatch(/Stopped before model call \d+: one-shot: /);
    expect(stderr).toMatch(/^ctxfold: one-shot: [^\n]*404[^\n]*\n$/);
  });

  test('a request that passes when repeated counts once', async () => {
    const server = await startLoopbackModel({ kind: 'status', status: 503 }, SNAPSHOT);
    const outcome = await replay(...withModel('one-shot', server.baseUrl), '--json');
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(read(outcome).summarizer.requests).toBe(server.requests.length - 1);
  });

  test('--fallback-to-truncation plays on', async () => {
    const { baseUrl } = await startLoopbackModel({ kind: 'status', status: 400 });
    const outcome = await replay(
      ...withModel('middle-out', baseUrl),
      '--fallback-to-truncation',
      '--json',
    );
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    const report = read(outcome);
    expect(report.playedEntries).toBe(report.entries);
    expect(windowsOf(report).flatMap(({ compressions }) => compressions)).toContainEqual(
      expect.objectContaining({ outcome: 'applied', isByModel: false, fallbackFrom: 'middle-out' }),
    );
    expect(report.failures.join()).toContain('status 400');
  });

  test('the key reaches the server and no output', async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      request.resume().on('end', () => {
        response.writeHead(401, { 'x-key': KEY });
        response.end(JSON.stringify({ error: { message: `wrong key: ${KEY}` } }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
    });
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    for (const more of [[], ['--json'], ['--fallback-to-truncation', '--json']]) {
      const { stdout, stderr } = await replay(...withModel('one-shot', baseUrl), ...more);
      expect(stdout + stderr).not.toContain(KEY);
      expect(stdout + stderr).toContain('status 401');
      // Servers may quote the session, which JSON output without content must not contain.
      expect(stdout.includes('wrong key: [key]')).toBe(!more.includes('--json'));
    }
    expect(new Set(seen)).toEqual(new Set([`Bearer ${KEY}`]));
  });

  test.each([
    [['--strategy', 'middle-out'], /add --base-url <url> and --model <name>\./],
    [[...withModel('one-shot', 'http://h/v1'), '--api-key-env', 'EMPTY_KEY'], /--api-key-env/],
    [['--top-preserve-threshold', '2'], /share from 0 to 1/],
  ])('exits with 2 on %j', async (args, message) => {
    const { code, stdout, stderr } = await replay(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('help has an example with a model and says what leaves the machine', async () => {
    const { stdout } = await replay('--help');
    for (const words of ['--api-key-env OPENAI_API_KEY', 'send the session to --base-url', '  5  '])
      expect(stdout).toContain(words);
  });

  test(
    'SIGINT while the model is asked ends it with 130',
    { skip: process.platform === 'win32' },
    async () => {
      const server = await startLoopbackModel({ kind: 'hang' });
      const child = spawn(
        process.execPath,
        [COMMAND, 'replay', SESSION, ...withModel('one-shot', server.baseUrl)],
        {
          env: { ...process.env, TEST_KEY: KEY },
        },
      );
      const ended = Promise.all([
        text(child.stderr),
        once(child, 'close') as Promise<[number | null]>,
      ]);
      await server.received(1);
      child.kill('SIGINT');
      const [stderr, [code]] = await ended;
      expect({ code, stderr }).toEqual({ code: 130, stderr: 'ctxfold: Interrupted.\n' });
    },
  );
});

describe('ctxfold replay --removal-log', () => {
  test('keeps what edits take away, and counts the records of this replay', async () => {
    const file = path.join(scratch, 'kept.jsonl');
    const args = ['--removal-log', file, '--context-limit', String(CONTEXT_LIMIT), '--json'];
    const [first, second] = [read(await replay(...args)), read(await replay(...args))];
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n').length;
    expect(first.removals?.records).toBeGreaterThan(0);
    expect(second.removals).toEqual(first.removals);
    expect(lines).toBe(2 * (first.removals?.records ?? 0));
  });

  test('never writes into the recorded session', async () => {
    const copy = path.join(scratch, 'session.jsonl');
    copyFileSync(SESSION, copy);
    const child = spawn(process.execPath, [COMMAND, 'replay', copy, '--removal-log', copy]);
    const [stderr, [code]] = await Promise.all([
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('the recorded session itself');
    // Not into another session of a folder either.
    for (const args of [
      ['replay', '--removal-log', copy],
      ['report', '--output', copy],
    ]) {
      const refused = await runCommand([...args, scratch]);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('this is a recorded session;');
    }
    expect(statSync(copy).size).toBe(statSync(SESSION).size);
  });
});
