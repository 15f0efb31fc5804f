// Whole sessions on real worker threads, through the built package. Requires `npm run build`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createCompactor } from 'ctxfold';
import type { Compactor, CompactorOptions, IContent, Session } from 'ctxfold';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateHistory } from '../../bench/support/generate-history.js';

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
