// The pool with the package's own worker, as the build bundles it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { InlineOffload } from '../../../src/main/offload/inline.js';
import { OffloadMeter } from '../../../src/main/offload/offload-meter.js';
import { SnapshotOffload } from '../../../src/main/offload/snapshot.js';
import { WorkerPool } from '../../../src/main/offload/worker-pool.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import type { DensityConfig } from '../../../src/shared/density.js';

const CONFIG: DensityConfig = {
  readWritePruning: true,
  fileDedupe: true,
  recencyPruning: true,
  recencyRetention: 1,
  workspaceRoot: '/w',
};

function openOffload(): { readonly pool: WorkerPool; readonly offload: SnapshotOffload } {
  const pool = new WorkerPool({ threads: 2 });
  onTestFinished(() => pool.close());
  const onFallback = ({ error }: { readonly error: Error }): void => {
    throw error;
  };
  return { pool, offload: new SnapshotOffload(pool, new OffloadMeter('', onFallback)) };
}

function history(entries: number): readonly IContent[] {
  return Array.from({ length: entries / 3 }, (_, at) => [
    humanText(`--- f${at % 7}.ts ---\ntext ${at}\n--- End of content ---\nlook <|endoftext|> 漢字`),
    aiContent([
      toolCall(`${at}`, at % 4 === 0 ? 'write_file' : 'read_file', { path: `f${at % 5}` }),
    ]),
    toolContent([toolResponse(`${at}`, 'read_file', { lines: ['é', at, null] })]),
  ]).flat();
}

/** Runs a module in a new Node process; resolves to its exit code and output. */
async function runModule(
  source: string,
): Promise<{ readonly code: unknown; readonly output: string }> {
  const args = ['--input-type=module', '--eval', source];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, env: {} });
  const killed = setTimeout(() => child.kill('SIGKILL'), 120_000);
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, 'close')) as [unknown];
  clearTimeout(killed);
  return { code, output };
}

const IMPORT = `
  const { WorkerPool } = await import('../../../dist/main/offload/worker-pool.js');
  const faulty = new URL('../../support/workers/faulty.mjs', '${import.meta.url}');
`;

describe('WorkerPool', () => {
  test('answers from its own threads', async () => {
    const { pool } = openOffload();
    expect((await pool.run({ kind: 'probe' })).value.threadId).toBeGreaterThan(0);
  });

  describe('when a worker raises an error that no task owns', () => {
    const workerUrl = new URL('../../support/workers/stray.mjs', import.meta.url);

    function openPool(): WorkerPool {
      const pool = new WorkerPool({ threads: 1, failureThreshold: 1_000, workerUrl });
      onTestFinished(() => pool.close());
      return pool;
    }

    test.each(['reject', 'throw'])(
      '%s: the task is answered and the thread replaced',
      async (fault) => {
        const exits: Promise<unknown>[] = [];
        const onWorker = (worker: Worker): void => void exits.push(once(worker, 'exit'));
        process.on('worker', onWorker);
        onTestFinished(() => void process.off('worker', onWorker));
        const pool = openPool();
        const before = await pool.run({ kind: 'probe', fault } as const);
        await exits[0];
        const after = await pool.run({ kind: 'probe' });
        expect(after.value.threadId).not.toBe(before.value.threadId);
        expect(pool.stats.strayErrors).toBeGreaterThan(0);
      },
    );

    test('the task is answered, though its thread exits before the answer is read', async () => {
      const started: Worker[] = [];
      const onWorker = (worker: Worker): void => void started.push(worker);
      process.on('worker', onWorker);
      onTestFinished(() => void process.off('worker', onWorker));
      const pool = openPool();
      await pool.run({ kind: 'probe' });
      const [thread] = started;
      const gate = new Int32Array(new SharedArrayBuffer(4));
      const answer = pool.run({ kind: 'probe', fault: 'leave', gate } as const);
      Atomics.wait(gate, 0, 0);
      // Which of the two comes first is chance.
      thread?.emit('exit', 1);
      thread?.removeAllListeners('exit');
      await expect(answer).resolves.toBeDefined();
    });

    test('thirty in a row leave no task unsettled', async () => {
      const pool = openPool();
      for (let round = 0; round < 30; round += 1) {
        const stray = { kind: 'probe', fault: 'reject' } as const;
        const code = await pool.run(stray).then(
          () => 'answered',
          (error: unknown) => (error as { code: unknown }).code,
        );
        // A task can be posted to a thread that is about to exit; it must then be rejected, not hang.
        expect(['answered', 'WORKER_DIED']).toContain(code);
      }
    });

    test('a reply that cannot be cloned rejects its task instead of leaving it', async () => {
      const pool = openPool();
      await pool.run({ kind: 'probe' });
      const request = { kind: 'probe', fault: 'notCloneable' } as const;
      await expect(pool.run(request)).rejects.toMatchObject({ code: 'WORKER_DIED' });
      await expect(pool.run({ kind: 'probe' })).resolves.toBeDefined();
    });
  });

  test.each([
    ['after one task', `const pool = new WorkerPool(); await pool.run({ kind: 'probe' });`],
    ['with an unused pool', `new WorkerPool();`],
    [
      'although a task is stuck',
      `const pool = new WorkerPool({ taskTimeoutMs: 200, workerUrl: faulty });
       const controller = new AbortController();
       pool.run({ kind: 'probe', fault: 'loop' }, controller).catch(() => 0);
       controller.abort();`,
    ],
    [
      'although an idle thread threw',
      `const pool = new WorkerPool({ workerUrl: faulty });
       await pool.run({ kind: 'probe', fault: 'strayRejection' }).catch(() => 0);
       await pool.run({ kind: 'probe' }).catch(() => 0);`,
    ],
    [
      'although no worker loads',
      `const workerUrl = new URL('missing.mjs', faulty);
       await new WorkerPool({ workerUrl }).run({ kind: 'probe' }).catch(() => 0);`,
    ],
  ])('lets the process end by itself %s', async (_name, source) => {
    expect(await runModule(`${IMPORT} ${source} console.log('done');`)).toEqual({
      code: 0,
      output: 'done\n',
    });
  });

  test('keeps the process alive while a task waits for its thread to be respawned', async () => {
    const source = `const pool = new WorkerPool({ threads: 1, workerUrl: faulty });
      await pool.run({ kind: 'probe' });
      await pool.run({ kind: 'probe', fault: 'exit' }).catch(() => 0);
      await pool.run({ kind: 'probe' });`;
    expect(await runModule(`${IMPORT} ${source} console.log('done');`)).toEqual({
      code: 0,
      output: 'done\n',
    });
  });
});

describe('SnapshotOffload', () => {
  test('plans the same as the inline offload', async () => {
    const entries = history(3_000);
    const base = { revision: 2, length: 2_900 };
    const planned = await openOffload().offload.optimize(entries, base, CONFIG);
    expect(planned).toEqual(await new InlineOffload().optimize(entries, base, CONFIG));
    expect(planned.plan.length).toBeGreaterThan(0);
  });

  test('counts the same as the inline offload', async () => {
    const entries = history(900);
    const counts = await openOffload().offload.countTokens(entries);
    expect(counts).toEqual(await new InlineOffload().countTokens(entries));
  });

  test('passes on an error of the pass itself unchanged', async () => {
    const broken = { ...CONFIG, workspaceRoot: undefined } as unknown as DensityConfig;
    const base = { revision: 0, length: 3 };
    const inline = await new InlineOffload().optimize(history(3), base, broken).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(inline).toBeInstanceOf(TypeError);
    await expect(openOffload().offload.optimize(history(3), base, broken)).rejects.toThrow(
      TypeError,
    );
  });
});
