// Whole sessions on real worker threads, through the built package. Requires `npm run build`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createCompactor } from 'ctxfold';
import { findViolations } from 'ctxfold/validate';
import type { Compactor, CompactorOptions, IContent, Session } from 'ctxfold';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateHistory } from '../../bench/support/generate-history.js';
import { PLAYS_ALL } from '../support/scale.js';

const ENTRIES = PLAYS_ALL ? 10_000 : 1_500;
const PACKAGE_ROOT = resolve(import.meta.dirname, '../..');

function open(options: CompactorOptions): Compactor {
  const compactor = createCompactor({
    workspaceRoot: '/w',
    contextLimit: 1_000_000_000,
    ...options,
  });
  onTestFinished(() => compactor.close());
  return compactor;
}

/** Restores most of a history, then continues turn by turn, with a preflight after each. */
async function play(compactor: Compactor, entries: readonly IContent[]): Promise<Session> {
  const restored = Math.floor(entries.length * 0.95);
  const session = await compactor.createSession({
    edits: 'every-turn',
    history: entries.slice(0, restored),
  });
  session.on('fallback', ({ error }) => {
    throw error;
  });
  for (let next = restored; next < entries.length; next += 100) {
    for (const entry of entries.slice(next, next + 100)) session.history.add(entry);
    await session.ensureCompressionBeforeSend(`turn ${next}`);
  }
  return session;
}

/** Counts a history from scratch. */
async function recount(entries: readonly IContent[]): Promise<number> {
  const session = await open({ offload: 'inline' }).createSession({
    edits: 'every-turn',
    history: entries,
  });
  await session.history.waitForTokenUpdates();
  return session.history.getTotalTokens();
}

/** Runs a module in a separate Node process. Resolves to its exit code and output. */
async function runModule(source: string): Promise<{ code: unknown; output: string }> {
  const args = ['--input-type=module', '--eval', source];
  const child = spawn(process.execPath, args, { cwd: PACKAGE_ROOT, env: {} });
  const killed = setTimeout(() => child.kill('SIGKILL'), 120_000);
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, 'close')) as [unknown];
  clearTimeout(killed);
  return { code, output };
}

describe('createCompactor', () => {
  it('has the same result on threads as inline for thousands of entries, with the right counts', async () => {
    const entries = generateHistory({ entries: ENTRIES });
    const settings = { 'compression.density.recencyPruning': true };
    const threaded = await play(open({ offload: 'snapshot', settings }), entries);
    const inline = await play(
      open({ offload: 'inline', tokenizer: 'estimate', settings }),
      entries,
    );
    const compacted = threaded.history.getAll();
    expect(compacted).toEqual(inline.history.getAll());
    expect(compacted.length).toBeLessThan(ENTRIES);
    expect(findViolations(compacted, entries)).toEqual([]);
    const recounted = await recount(compacted);
    expect(threaded.history.getTotalTokens()).toBe(recounted);
    await threaded.history.recalculateTotalTokens();
    expect(threaded.history.getTotalTokens()).toBe(recounted);
  });

  it('serves two sessions at once', async () => {
    const compactor = open({ offload: 'snapshot', threads: 2 });
    const [a, b] = [1, 2].map((seed) =>
      generateHistory({ entries: PLAYS_ALL ? 1_500 : 400, seed }),
    );
    const [one, other] = await Promise.all([play(compactor, a ?? []), play(compactor, b ?? [])]);
    const inline = open({ offload: 'inline' });
    for (const [session, entries] of [[one, a] as const, [other, b] as const]) {
      const expected = await play(inline, entries ?? []);
      expect(session.history.getAll()).toEqual(expected.history.getAll());
      expect(session.history.getTotalTokens()).toBe(expected.history.getTotalTokens());
    }
  });

  it('compresses on threads to the same result as inline', async () => {
    const entries = generateHistory({ entries: 1_000 });
    const options = { contextLimit: 50_000 };
    const threaded = await play(open({ ...options, offload: 'snapshot' }), entries);
    const inline = await play(open({ ...options, offload: 'inline' }), entries);
    expect(threaded.history.getAll()).toEqual(inline.history.getAll());
    expect(threaded.history.getTotalTokens()).toBe(inline.history.getTotalTokens());
    expect(threaded.history.getTotalTokens()).toBeLessThan(50_000);
    expect(findViolations(threaded.history.getAll())).toEqual([]);
  });

  it('stops its threads for good, however often it is told to', async () => {
    const compactor = open({ offload: 'snapshot' });
    const session = await play(compactor, generateHistory({ entries: 100 }));
    await compactor.close();
    await Promise.all([compactor.close(), compactor[Symbol.asyncDispose]()]);
    await expect(compactor.createSession()).rejects.toMatchObject({ code: 'CLOSED' });
    expect(() => {
      session.history.add(generateHistory({ entries: 1, seed: 9 })[0] as IContent);
    }).toThrow(expect.objectContaining({ code: 'CLOSED' }));
    const after = session.ensureCompressionBeforeSend('after');
    await expect(after).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('is closed at the end of a block that uses it', async () => {
    let kept: Compactor;
    {
      await using compactor = createCompactor({ offload: 'snapshot' });
      kept = compactor;
      await play(compactor, generateHistory({ entries: 20 }));
    }
    await expect(kept.createSession()).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it.each(['snapshot', 'auto', 'inline'])(
    'lets the process end by itself without being closed (%s)',
    async (offload) => {
      const source = `
        import { createCompactor, humanText } from 'ctxfold';
        const session = await createCompactor({ offload: '${offload}' }).createSession();
        session.history.add(humanText('hello'));
        console.log((await session.ensureCompressionBeforeSend('p1')).totalTokens);`;
      expect(await runModule(source)).toEqual({ code: 0, output: '4\n' });
    },
  );
});
