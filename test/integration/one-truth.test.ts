// The command line and the library report the same figures for a session: the commands as users run them, the adapter with
// its five lines. Requires `npm run build`.

import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createCompactor } from 'ctxfold';
import { messageCompactor } from 'ctxfold/ai-sdk';
import { readTranscript } from 'ctxfold/transcripts';
import type { Session } from 'ctxfold';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { SDK_ROUTES } from '../../bench/fidelity/sdk-routes.js';
import { runCommand } from '../support/run-command.js';
import { sample } from '../support/scale.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const FIXTURES = path.resolve('test/fixtures/transcripts');
const SESSIONS = [
  'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl',
  'gemini-cli/session-2025-12-30T06-53-7bc58f7d.json',
  'codex/jdx-mise__71-b56c467073-0.jsonl',
  'openai-chat/openhands-sampled__python__mypy-15976_0.json',
  'swe-agent/crypto__BabyEncryption.traj',
  'mini-swe-agent/pydata__xarray-7229.traj.json',
  'cline/session.messages.json',
].map((name) => path.join(FIXTURES, name));

const scratch = temporaryFolder(afterAll);

interface Tokens {
  readonly without: number;
  readonly with: number;
}

interface Figures {
  readonly end: Tokens;
  readonly input: Tokens;
  /** With and without ctxfold. */
  readonly dollars: readonly [number, number];
}

interface Played {
  readonly file: string;
  readonly end: Tokens & { readonly tokens?: Tokens };
  readonly input: Tokens;
  readonly money: Readonly<Record<keyof Tokens, { readonly dollars: number }>>;
}

function figuresOf({ end, input, money }: Played): Figures {
  return { end: end.tokens ?? end, input, dollars: [money.with.dollars, money.without.dollars] };
}

async function printed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

const replays = new Map<string, Promise<Figures>>();

/** Replays each session once for all comparisons. */
function replayed(file: string): Promise<Figures> {
  const replay =
    replays.get(file) ??
    printed('replay', file, '--json').then((json) => figuresOf(JSON.parse(json) as Played));
  replays.set(file, replay);
  return replay;
}

async function analyzed(file: string): Promise<Figures> {
  const [session] = await ofFolder('analyze', file);
  return session![1];
}

/** The figures of each session of a folder or file by file name, as `analyze` prints them. */
async function ofFolder(
  command: 'replay' | 'analyze',
  folder: string,
): Promise<readonly (readonly [string, Figures])[]> {
  const { sessions } = JSON.parse(await printed(command, folder, '--json', '--no-redact')) as {
    readonly sessions: readonly Played[];
  };
  return sessions.map((session) => [path.basename(session.file), figuresOf(session)]);
}

/** The figures in a page's headline and chart. */
async function reported(file: string): Promise<Figures> {
  const page = await printed('report', file, '-o', '-');
  const [, data = ''] = /id="data">(.*?)<\/script>/s.exec(page) ?? [];
  const { without, layers } = JSON.parse(data) as {
    readonly without: readonly number[];
    readonly layers: readonly { readonly tokens: readonly number[] }[];
  };
  const left = without.map((_, at) => sum(layers.map(({ tokens }) => tokens[at] ?? 0)));
  const [, now, before] =
    /Input costs <b>\$([^<]*)<\/b> with ctxfold,\s*<b class="before">\$([^<]*)</.exec(page) ?? [];
  return {
    dollars: [Number(now), Number(before)],
    end: { without: without.at(-1) ?? 0, with: left.at(-1) ?? 0 },
    input: { without: sum(without.slice(0, -1)), with: sum(left.slice(0, -1)) },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Plays a session through the adapter. Returns what all calls were sent. */
async function adapted(file: string) {
  const [route] = SDK_ROUTES;
  const { entries, workspaceRoot } = await readTranscript(file);
  await using compactor = createCompactor({ workspaceRoot });
  const opened: Session[] = [];
  const compact = messageCompactor(compactor, {
    onSession: (session) => void opened.push(session),
  });
  const messages: never[] = [];
  for (const entry of entries) {
    const modelName = entry.metadata?.['model'];
    if (entry.speaker === 'ai') await compact(messages, { modelName });
    const message = route?.write(entry);
    if (message !== undefined) messages.push(message as never);
  }
  const [session] = opened;
  const { sentTokens, uncompacted } = session!.costs();
  return { without: uncompacted.sentTokens, with: sentTokens };
}

describe('one session', () => {
  test.each(sample(SESSIONS, 1))('has the same figures in all commands: %s', async (file) => {
    const replay = await replayed(file);
    expect(await analyzed(file)).toEqual(replay);
    const { dollars, ...figures } = await reported(file);
    expect(replay).toMatchObject(figures);
    // The page rounds them.
    for (const [at, shown] of dollars.entries()) {
      expect(shown / replay.dollars[at]!).toBeCloseTo(1, 1);
    }
  });

  test.each(['replay', 'analyze'] as const)(
    'has the same figures in a folder: %s',
    async (command) => {
      const folder = mkdtempSync(path.join(scratch, 'folder-'));
      const files = new Set([SESSIONS[2]!, ...sample(SESSIONS, 1)]);
      for (const file of files) cpSync(file, path.join(folder, path.basename(file)));
      const figures = await Promise.all(
        Array.from(files, async (file) => [path.basename(file), await replayed(file)] as const),
      );
      expect(Object.fromEntries(await ofFolder(command, folder))).toEqual(
        Object.fromEntries(figures),
      );
    },
  );

  test.each(sample(SESSIONS, 1))('has the same figures in the adapter: %s', async (file) => {
    const { input } = await replayed(file);
    const adapter = await adapted(file);
    // Content that an SDK's messages cannot express, such as an error next to its text, weighs the same with and without
    // ctxfold.
    expect(input.without - input.with).toBe(adapter.without - adapter.with);
    expect(adapter.without / input.without).toBeCloseTo(1, 1);
  });
});

describe('analyze --suggest', () => {
  const suggested: readonly (readonly [string, readonly string[]])[] = [
    [SESSIONS[0]!, []],
    [SESSIONS[6]!, []],
    [SESSIONS[0]!, ['--recency', '2']],
    [SESSIONS[0]!, ['--price', '10/10/10']],
    [SESSIONS[2]!, ['--context-limit', '30_000']],
  ];

  test.each(sample(suggested, 1))(
    'reaches the number that it shows when it is pasted: %s %j',
    async (file, options) => {
      const code = await printed('analyze', file, ...options, '--suggest');
      const { sessions } = JSON.parse(await printed('analyze', file, ...options, '--json')) as {
        readonly sessions: readonly Figures[];
      };
      const input = sessions[0]!.input;
      const saved = `${((1 - input.with / input.without) * 100).toFixed(1)} %`;
      expect(code).toMatch(new RegExp(`^// ${saved} less input over `));
      // Without an explicit limit, it is the model's.
      expect(code.includes('contextLimit:')).toBe(options.includes('--context-limit'));
      const session = await paste(code);
      const { entries } = await readTranscript(file);
      let sent = 0;
      // Caches expire by the recorded times.
      let timeMs = 0;
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => timeMs);
      for (const entry of entries) {
        if (entry.speaker === 'ai') {
          timeMs = Math.max(timeMs, entry.metadata?.timestamp ?? 0);
          // Like an adapter, use the model's prices.
          const model = entry.metadata?.['model'];
          if (typeof model === 'string') session.history.nameModel(model);
          sent += (await session.ensureCompressionBeforeSend('p')).totalTokens;
        }
        session.history.add(entry);
      }
      clock.mockRestore();
      await session.close();
      expect(sent).toBe(input.with);
    },
  );

  test('can be pasted from a narrow terminal', async () => {
    const { stdout } = await runCommand(['analyze', SESSIONS[6]!, '--recency', '2', '--suggest'], {
      COLUMNS: '40',
    });
    const session = await paste(stdout);
    expect(session.settings.get('compression.density.recencyRetention')).toBe(2);
    await session.close();
  });
});

/** Writes code to a module, resolves `ctxfold` to the build, and runs it. */
async function paste(code: string): Promise<Session> {
  const file = path.join(scratch, `${createHash('sha256').update(code).digest('hex')}.mjs`);
  const built = pathToFileURL(path.resolve('dist/index.js')).href;
  writeFileSync(file, `${code.replace("'ctxfold'", `'${built}'`)}\nexport { session };`);
  expect(readFileSync(file, 'utf8')).toContain(built);
  const { session } = (await import(pathToFileURL(file).href)) as { readonly session: Session };
  return session;
}
