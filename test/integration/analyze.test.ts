// The built command on the fixtures. Requires `npm run build`.

import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { EntryExplanation } from 'ctxfold/density';
import { afterAll, describe, expect, test } from 'vitest';
import { runCommand } from '../support/run-command.js';
import type { Outcome } from '../support/run-command.js';
import { PLAYS_ALL } from '../support/scale.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const FIXTURES = path.resolve('test/fixtures/transcripts');
const SHORT = path.join(FIXTURES, 'swe-agent/humanevalfix-python-0.traj');
const SESSION = path.join(FIXTURES, 'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl');

const scratch = temporaryFolder(afterAll);
const EMPTY = temporaryFolder(afterAll);

const ONE = path.join(scratch, 'one.jsonl');
writeFileSync(ONE, '{"role":"user","content":"hello"}\n');

/** A folder of sessions: all of the fixtures, or the short ones. */
const SESSIONS = PLAYS_ALL ? FIXTURES : path.join(scratch, 'few');
if (!PLAYS_ALL) {
  for (const part of ['cline', 'swe-agent', 'ATTRIBUTION.md']) {
    cpSync(path.join(FIXTURES, part), path.join(SESSIONS, part), { recursive: true });
  }
}

function run(...args: readonly string[]): Promise<Outcome> {
  return runCommand(args);
}

interface Tokens {
  readonly without: number;
  readonly with: number;
}

interface Figures {
  readonly tokens: Tokens;
}

interface Report {
  readonly sessions: readonly (Figures & { readonly file: string })[];
  readonly totals: Figures;
  readonly unread: readonly { readonly file: string; readonly reason: string }[];
}

interface Explained {
  readonly entries: number;
  readonly explanation: EntryExplanation;
}

describe('ctxfold analyze', () => {
  test('analyzes a folder, and lists what it cannot read', async () => {
    const { code, stdout, stderr } = await run(
      'analyze',
      SESSIONS,
      '--json',
      '--no-redact',
      '--recency',
      '2',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { sessions, totals, unread } = JSON.parse(stdout) as Report;
    expect(sessions).toHaveLength(PLAYS_ALL ? 14 : 4);
    const tokens = sessions.map((session) => session.tokens.without);
    expect(tokens).toEqual(tokens.toSorted((a, b) => b - a));
    expect(tokens.reduce((total, count) => total + count, 0)).toBe(totals.tokens.without);
    expect(unread.map(({ file }) => path.relative(SESSIONS, file))).toContain('ATTRIBUTION.md');
    expect(unread.every(({ reason }) => reason.length > 0)).toBe(true);
  });

  test('explains by the price that is given: when an entry was edited depends on it', async () => {
    const landedAt = async (price: string): Promise<number | undefined> => {
      const args = ['--explain', '2', '--price', price, '--json'];
      const { stdout } = await run('analyze', SESSION, ...args);
      const { landed } = JSON.parse(stdout) as { landed: { modelCall: number } | null };
      return landed?.modelCall;
    };
    const cheapReads = await landedAt('10/0.05/12.5');
    expect(cheapReads).toBeGreaterThan(0);
    expect(await landedAt('10/10/10')).not.toBe(cheapReads);
  });

  test('explains one entry, for a person and as JSON', async () => {
    const { code, stdout, stderr } = await run('analyze', SHORT, '--explain', '4', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { entries, explanation } = JSON.parse(stdout) as Explained;
    expect(entries).toBe(11);
    expect(explanation.index).toBe(4);
    const text = await run('analyze', SHORT, '--explain', '4');
    expect(text.stdout).toContain('entry 4 of 11, counted from 0');
    expect(text.stdout).toContain(explanation.blocks[0]?.text.slice(0, 20));
    for (const line of text.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test.each([
    ['an entry that is not there', SHORT, '11', 'the session has 11 entries, counted'],
    ['an entry behind the only one', ONE, '1', 'the session has 1 entry, counted from 0'],
    ['a folder', FIXTURES, '0', 'needs a single session'],
    ['what is no index', SESSION, '-1', '--explain'],
  ])('explains nothing of %s', async (_, place, index, message) => {
    const { code, stdout, stderr } = await run('analyze', place, `--explain=${index}`);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('says that nothing was sent where there are no model calls', async () => {
    const { stdout } = await run('analyze', ONE);
    expect(stdout).toContain('There are no model calls, so nothing is sent.');
    expect(stdout).not.toContain('– saved');
    const { stdout: code } = await run('analyze', ONE, '--suggest', '--workspace', '/w');
    expect(code).toMatch(/^\/\/ No figures: there are no model calls in \S*one\.jsonl\.\n/);
    expect(code).toContain("\n  workspaceRoot: '/w'\n");
  });

  test.each([
    ['a file that is no session', path.join(FIXTURES, 'ATTRIBUTION.md')],
    ['a path where nothing is', '/nowhere'],
    ['a folder without sessions', EMPTY],
  ])('ends with exit code 3 for %s', async (_, place) => {
    const { code, stderr } = await run('analyze', place);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^ctxfold: .+\n$/);
  });
});
