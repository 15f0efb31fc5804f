// The built command on the fixtures; in a process of its own only where that matters. Requires `npm run build`.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { COMMAND, runCommand } from '../support/run-command.js';
import type { Outcome } from '../support/run-command.js';
import { PLAYS_ALL, sample } from '../support/scale.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const FIXTURES = path.resolve('test/fixtures/transcripts');
const SWE_AGENT = path.join(FIXTURES, 'swe-agent/humanevalfix-python-0.traj');

const scratch = temporaryFolder(afterAll);

/** A folder of sessions: all of the fixtures, or two of them. */
const SESSIONS = PLAYS_ALL ? FIXTURES : path.join(scratch, 'two-sessions');
if (!PLAYS_ALL) {
  cpSync(path.join(FIXTURES, 'cline'), SESSIONS, { recursive: true });
  cpSync(SWE_AGENT, path.join(SESSIONS, 'session.traj'));
}

function run(...args: readonly string[]): Promise<Outcome> {
  return runCommand(args);
}

function scratchFile(name: string, content: string): string {
  const file = path.join(scratch, name);
  writeFileSync(file, content);
  return file;
}

interface Tokens {
  readonly without: number;
  readonly with: number;
}

interface Report {
  readonly format: string;
  readonly entries: number;
  readonly playedEntries: number;
  readonly exceeded: object | null;
  readonly modelCalls: readonly { readonly tokens: Tokens; readonly edits: readonly Total[] }[];
  readonly end: { readonly tokens: Tokens; readonly edits: readonly Total[] };
  readonly input: Tokens;
  readonly reclaimed: readonly Total[];
}

interface Total {
  readonly tokens: number;
}

const sum = (totals: readonly Total[]): number =>
  totals.reduce((tokens, total) => tokens + total.tokens, 0);

describe('ctxfold replay', () => {
  const recorded = [
    ['claude-code', 'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl'],
    ['gemini-cli', 'gemini-cli/session-2025-12-30T06-53-7bc58f7d.json'],
    ['codex', 'codex/jdx-mise__71-b56c467073-0.jsonl'],
    ['openai-chat', 'openai-chat/openhands-sampled__python__mypy-15976_0.json'],
    ['swe-agent', 'swe-agent/crypto__BabyEncryption.traj'],
    ['mini-swe-agent', 'mini-swe-agent/pydata__xarray-7229.traj.json'],
    ['cline', 'cline/session.messages.json'],
  ] as const;

  test.each(sample(recorded, 2))(
    'reports a session of %s whose figures add up',
    async (format, fixture) => {
      const file = path.join(FIXTURES, fixture);
      const { code, stdout, stderr } = await run('replay', file, '--json', '--recency', '2');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const report = JSON.parse(stdout) as Report;
      expect(report).toMatchObject({ format, exceeded: null });
      expect(report.playedEntries).toBe(report.entries);
      const windows = [...report.modelCalls, report.end];
      const saved = report.end.tokens.without - report.end.tokens.with;
      expect(sum(report.reclaimed)).toBe(saved);
      expect(sum(windows.flatMap(({ edits }) => edits))).toBe(saved);
      expect(sum(report.modelCalls.map((call) => ({ tokens: call.tokens.with })))).toBe(
        report.input.with,
      );
      let edited = 0;
      for (const { edits, tokens } of windows) {
        edited += sum(edits);
        expect(tokens.without - tokens.with).toBe(edited);
      }
    },
  );

  test('report writes a page about a folder, and leaves out what is no session', async () => {
    const folder = temporaryFolder();
    const sessions = path.join(folder, 'sessions');
    mkdirSync(sessions);
    cpSync(path.join(FIXTURES, 'cline'), sessions, { recursive: true });
    writeFileSync(path.join(sessions, 'notes.txt'), 'no session');
    const page = path.join(folder, 'page.html');
    const played = await run('report', sessions, '--price', '3/0.3/3.75', '-o', page);
    expect(played).toMatchObject({ code: 0, stderr: '' });
    const text = readFileSync(page, 'utf8');
    expect(text).toContain('1 session · ');
    expect(text).toContain('1 other file left out');
    expect(text).toContain('$3 input, $0.3 cache read');
  });

  test('report refuses a price that it does not know', async () => {
    const file = path.join(FIXTURES, 'cline/session.messages.json');
    const { code, stderr } = await run('report', file, '--price', 'cheap');
    expect(code).not.toBe(0);
    expect(stderr).toContain('--price: expected the id of a model');
  });

  test('prints a report that fits 80 columns and has no colours when piped', async () => {
    const { code, stdout, stderr } = await run('replay', SWE_AGENT);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('context window 128,000');
    expect(stdout).not.toContain(String.fromCharCode(27));
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('keeps what the session said out of the JSON', async () => {
    const secret = 'correct-horse-battery-staple';
    const step = (id: string): readonly object[] => [
      {
        role: 'assistant',
        content: secret,
        tool_calls: [
          { id, type: 'function', function: { name: 'sh', arguments: `{"command":"${secret}"}` } },
        ],
      },
      { role: 'tool', tool_call_id: id, content: secret.repeat(500) },
    ];
    const messages = [{ role: 'user', content: secret }, ...step('1'), ...step('2')];
    const file = scratchFile('secret.json', JSON.stringify({ messages }));
    const { stdout } = await run('replay', file, '--json', '--recency', '1');
    expect(sum((JSON.parse(stdout) as Report).reclaimed)).toBeGreaterThan(0);
    expect(stdout).not.toContain(secret);
  });

  test('gives a report of a transcript without entries', async () => {
    const { code, stdout } = await run(
      'replay',
      scratchFile('none.json', '{"messages":[]}'),
      '--format',
      'openai-chat',
    );
    expect(code).toBe(0);
    expect(stdout).toContain('no entries');
  });

  test('exits with 4 when the session cannot fit, and reports what was reached', async () => {
    const args = [SWE_AGENT, '--json', '--context-limit', '100'];
    const replayed = await run('replay', ...args);
    const analyzed = await run('analyze', ...args);
    for (const { code, stderr } of [replayed, analyzed]) {
      expect(code).toBe(4);
      expect(stderr).toMatch(/^ctxfold: .*context window.*\n$/);
    }
    expect((JSON.parse(replayed.stdout) as Report).exceeded).not.toBeNull();
    expect(analyzed.stdout).toContain('"stop": "The next request needs');
  });

  test.each(['replay', 'analyze'])(
    '%s tells how many sessions of a folder stopped',
    async (name) => {
      const { code, stdout } = await run(name, path.dirname(SWE_AGENT), '--context-limit', '100');
      expect(code).toBe(0);
      expect(stdout.replaceAll('\n', ' ')).toMatch(
        / 3 sessions stopped early; --json tells why\. /,
      );
    },
  );

  test.each([
    ['a missing file', () => path.join(scratch, 'missing.json'), /cannot be read/],
    [
      'a damaged document',
      () => scratchFile('cut.traj', readFileSync(SWE_AGENT, 'utf8').slice(0, 9_000)),
      /ends too early/,
    ],
    ['an unknown format', () => scratchFile('odd.json', '{"a":1}'), /no known transcript format/],
    ['an empty file', () => scratchFile('empty.json', ''), /The transcript is empty/],
  ])('exits with 3 on %s', async (_, file, message) => {
    const { code, stdout, stderr } = await run('replay', file(), '--json');
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^ctxfold: [^\n]*\n$/);
  });

  test.each([
    [[], /Usage/],
    [['replay'], /missing required argument/],
    [['play'], /unknown command/],
    [['help', 'play'], /unknown command 'play'/],
    [['--debug', 'help', 'analyse'], /Did you mean analyze/],
    [['replay', 'f', '--nope'], /unknown option/],
    [['replay', 'f', '--format', 'word'], /Allowed choices are claude-code/],
    [['replay', 'f', '--context-limit', '0'], /whole number/],
    [['replay', 'f', '--threshold', '85'], /share above 0 to 1/],
    [['replay', 'f', '--recency', 'x'], /whole number/],
    [['replay', 'f', '--threads', '65'], /from 1 to 64/],
    [['analyze', 'f', '--suggest', '--json'], /cannot be used with option '--json'/],
  ])('exits with 2 on %j', async (args, message) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test('prints stack and cause with --debug', async () => {
    const { stderr } = await run('--debug', 'replay', path.join(scratch, 'missing.json'));
    expect(stderr).toMatch(/\n +at .*/);
    expect(stderr).toContain('[cause]');
  });

  test('documents formats, examples and exit codes, and knows its version', async () => {
    const [help, version] = await Promise.all([run('replay', '--help'), run('--version')]);
    expect(help.code).toBe(0);
    for (const words of ['claude-code', 'Examples:', 'Exit codes:'])
      expect(help.stdout).toContain(words);
    const { version: expected } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      version: string;
    };
    expect(version).toEqual({ code: 0, stdout: `${expected}\n`, stderr: '' });
  });

  test('survives a closed pipe', async () => {
    const child = spawn(process.execPath, [COMMAND, 'replay', SWE_AGENT, '--json']);
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test.skipIf(process.platform === 'win32')('ends with 130 on SIGINT', async () => {
    const file = path.join(scratch, 'endless.jsonl');
    execFileSync('mkfifo', [file]);
    const child = spawn(process.execPath, [COMMAND, 'replay', file]);
    const ended = Promise.all([
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    const writer = createWriteStream(file);
    // Opening blocks until the reader opens, which by then handles signals.
    await once(writer, 'open');
    writer.on('error', () => {});
    child.kill('SIGINT');
    const feed = setInterval(() => writer.write('\n'), 10);
    const [stderr, [code]] = await ended;
    clearInterval(feed);
    writer.destroy();
    expect({ code, stderr }).toEqual({ code: 130, stderr: 'ctxfold: Interrupted.\n' });
  });
});

/** Runs the command with a file as its standard input. */
async function pipe(file: string, ...args: readonly string[]): Promise<Outcome> {
  const child = spawn(process.execPath, [COMMAND, ...args]);
  createReadStream(file).pipe(child.stdin);
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await closed;
  return { code, stdout, stderr };
}

describe('a dash', () => {
  test('stands for standard input in commands that read a session', async () => {
    const commands = [
      ['replay', '--json'],
      ['analyze', '--json'],
      ['analyze', '--json', '--explain', '2'],
    ];
    for (const [command = '', ...options] of sample(commands, 1)) {
      const [piped, named] = await Promise.all([
        pipe(SWE_AGENT, command, '-', ...options),
        run(command, SWE_AGENT, ...options),
      ]);
      expect(piped).toMatchObject({ code: 0, stderr: '' });
      const figures = ({ stdout }: Outcome): unknown => {
        const { input, totals, explanation } = JSON.parse(stdout) as Readonly<
          Record<string, unknown>
        >;
        return JSON.stringify({ input, totals, explanation }).replaceAll(/#[0-9a-f]{6}/g, '#');
      };
      expect(figures(piped)).toBe(figures(named));
    }
  });

  test('stands for standard output, which then has only the page', async () => {
    const { code, stdout, stderr } = await run('report', SWE_AGENT, '-o', '-');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^<!doctype html>[^]*<\/html>\s*$/);
  });

  test.each([
    [['replay', SWE_AGENT, '--removal-log', '-'], /--removal-log/],
    [['mcp', '--removal-log', '-'], /--removal-log: standard input/],
  ])('is refused where a file is kept or followed: %j', async (args, message) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

describe('a folder', () => {
  test('is replayed session by session, and summed up', async () => {
    const folder = path.join(scratch, 'sessions');
    cpSync(path.join(FIXTURES, 'cline'), folder, { recursive: true });
    cpSync(SWE_AGENT, path.join(folder, 'deeper/session.traj'));
    writeFileSync(path.join(folder, 'notes.txt'), 'no session');
    const { code, stdout, stderr } = await run('replay', folder, '--json', '--no-redact');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { sessions, totals, unread } = JSON.parse(stdout) as {
      readonly sessions: readonly (Report & { readonly file: string })[];
      readonly totals: {
        readonly modelCalls: number;
        readonly input: Tokens;
        readonly end: Tokens;
      };
      readonly unread: readonly { readonly file: string }[];
    };
    expect(sessions.map(({ file }) => path.relative(folder, file)).sort()).toEqual([
      'deeper/session.traj',
      'session.messages.json',
    ]);
    expect(unread.map(({ file }) => path.relative(folder, file))).toEqual(['notes.txt']);
    for (const side of ['without', 'with'] as const) {
      const of = (tokens: (report: Report) => Tokens): number =>
        sessions.reduce((total, report) => total + tokens(report)[side], 0);
      expect(totals.input[side]).toBe(of(({ input }) => input));
      expect(totals.end[side]).toBe(of(({ end }) => end.tokens));
    }
    const alone = JSON.parse((await run('replay', SWE_AGENT, '--json')).stdout) as Report;
    expect(sessions.find(({ format }) => format === 'swe-agent')?.input).toEqual(alone.input);
    const shown = await run('replay', folder);
    expect(shown.stdout).toMatch(/\nall sessions +21 /);
    expect(shown.stdout).toContain('1 file left out');
  });

  test.each(['replay', 'analyze', 'report'])(
    'without a session is told with code 3, in one line: %s',
    async (command) => {
      const { code, stderr } = await run(command, path.join(FIXTURES, 'LICENSES'));
      expect(code).toBe(3);
      expect(stderr).toMatch(/^ctxfold: No file in the folder [^\n]*\n$/);
    },
  );
});

describe('a terminal of 40 columns', () => {
  const commands: readonly (readonly [readonly string[]])[] = [
    [[]],
    [['--help']],
    ...['replay', 'report', 'analyze', 'mcp'].map((name) => [[name, '--help']] as const),
    [['replay']],
    [['replay', path.join(scratch, 'missing.json')]],
    [['replay', SWE_AGENT, '--recency', 'x']],
    [['replay', SWE_AGENT]],
    [['replay', SWE_AGENT, '--context-limit', '100']],
    [['replay', SESSIONS]],
    [['report', SWE_AGENT, '-o', path.join(scratch, 'a-rather-long-name-of-a-page.html')]],
    [['analyze', SWE_AGENT]],
    [['analyze', SWE_AGENT, '--explain', '4']],
    [['analyze', SWE_AGENT, '--explain', '400']],
    [['analyze', SWE_AGENT, '--suggest']],
    [['analyze', SESSIONS]],
    [['analyze', SESSIONS, '--suggest']],
  ];

  test.each(sample(commands, 6))('has no wider line: %j', async (args) => {
    const { stdout, stderr } = await runCommand(args, { COLUMNS: '40' });
    expect(stdout + stderr).not.toBe('');
    for (const line of `${stdout}\n${stderr}`.split('\n')) {
      expect(line.length, line).toBeLessThanOrEqual(40);
    }
  });
});

describe('a run on a terminal', () => {
  /** Runs the command in this process as if stderr were a terminal. Returns what it showed. */
  async function shownBy(args: readonly string[], env = {}): Promise<string> {
    const { stderr } = process;
    const described = Object.getOwnPropertyDescriptor(stderr, 'isTTY');
    Object.defineProperty(stderr, 'isTTY', { value: true, configurable: true });
    try {
      return (await runCommand(args, env)).stderr;
    } finally {
      if (described === undefined) Reflect.deleteProperty(stderr, 'isTTY');
      else Object.defineProperty(stderr, 'isTTY', described);
    }
  }

  const watched: readonly (readonly [readonly string[], readonly string[]])[] = [
    [
      ['replay', SWE_AGENT],
      ['reading', 'replaying'],
    ],
    [['replay', SESSIONS], ['playing']],
    [
      ['report', SWE_AGENT, '-o', path.join(scratch, 'page.html')],
      ['reading', 'replaying'],
    ],
    [
      ['analyze', SWE_AGENT],
      ['reading', 'replaying'],
    ],
    [
      ['analyze', SWE_AGENT, '--explain', '2'],
      ['reading', 'replaying'],
    ],
    [['analyze', SESSIONS], ['analyzing']],
  ];

  test.each(sample(watched, 2))(
    'shows a bar for each stage from its start: %j',
    async (args, stages) => {
      const shown = await shownBy(args);
      for (const stage of stages) expect(shown).toMatch(new RegExp(`${stage} [█░]+ 0/`));
      // A run that is killed, as by a second Ctrl-C, could not show a hidden cursor again, nor wrap lines.
      expect(shown).not.toMatch(/\[\?(?:25|7)l/);
    },
  );

  test('shows no bar with --json, and on a terminal whose cursor does not move', async () => {
    expect(await shownBy(['replay', SWE_AGENT, '--json'])).toBe('');
    expect(await shownBy(['replay', SWE_AGENT], { TERM: 'dumb' })).toBe('');
  });
});

describe('a page without a given name', () => {
  test('overwrites a page of its own, but no other file', async () => {
    const folder = mkdtempSync(path.join(scratch, 'page-'));
    const page = path.join(folder, 'report.html');
    const former = process.cwd();
    process.chdir(folder);
    try {
      writeFileSync(page, '<title>Coverage</title>');
      const refused = await run('report', SWE_AGENT);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(
        /^error: report\.html is there already and is no page of ctxfold: name a file with --output\./,
      );
      expect(readFileSync(page, 'utf8')).toBe('<title>Coverage</title>');
      rmSync(page);
      expect((await run('report', SWE_AGENT)).code).toBe(0);
      appendFileSync(page, '<!-- of before -->');
      expect((await run('report', SWE_AGENT)).code).toBe(0);
      expect(readFileSync(page, 'utf8')).toMatch(/<\/html>\s*$/);
    } finally {
      process.chdir(former);
    }
  });
});

describe.skipIf(process.platform !== 'linux')('output that cannot be written', () => {
  const shell = (script: string, ...args: readonly string[]) =>
    spawnSync('sh', ['-c', script, process.execPath, COMMAND, ...args], { encoding: 'utf8' });

  test.each(sample(['analyze', 'replay', 'report -o -', 'analyze --suggest', 'analyze --json'], 1))(
    'is reported in one line, with code 1: %s',
    (command) => {
      const { status, stderr } = shell(`"$0" "$1" ${command} "$2" > /dev/full`, SWE_AGENT);
      expect(status).toBe(1);
      expect(stderr).toMatch(/^ctxfold: Cannot write the output: .*ENOSPC.*\n$/);
    },
  );

  test('is reported before anything is read', async () => {
    const page = path.join(scratch, 'nowhere/page.html');
    const { code, stderr } = await run('report', '/no/session.jsonl', '-o', page);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^ctxfold: The page cannot be written to \S*nowhere\/page\.html: ENOENT/,
    );
  });

  const places = [
    ['a folder', scratch, /EISDIR/],
    ['a place that is none', path.join(scratch, 'nowhere/page.html'), /ENOENT/],
    ['a full disk', '/dev/full', /ENOSPC/],
  ] as const;

  test.each(sample(places, 1))(
    'is reported in one line, with code 1, for a page to %s',
    async (_, place, message) => {
      const { code, stderr } = await run('report', SWE_AGENT, '-o', place);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^ctxfold: [^\n]*\n$/);
      expect(stderr).toMatch(message);
    },
  );

  test('prints no stack trace when stderr is not writable either', () => {
    const { status, stderr } = shell('"$0" "$1" analyze missing.json 2> /dev/full; echo $? >&2');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '3\n' });
  });
});
