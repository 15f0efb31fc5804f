// Many sessions with resident histories, through the built package: where histories live, which are evicted, and what
// remains of them. Requires `npm run build`.

import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { createCompactor, humanText } from 'ctxfold';
import type { Compactor, CompactorOptions, CtxfoldError, IContent, Session } from 'ctxfold';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateHistory } from '../../bench/support/generate-history.js';
import { length } from '../support/scale.js';

const PACKAGE_ROOT = resolve(import.meta.dirname, '../..');

function open(options: CompactorOptions): Compactor {
  const compactor = createCompactor({
    offload: 'resident',
    workspaceRoot: '/w',
    contextLimit: 1_000_000_000,
    ...options,
  });
  onTestFinished(() => compactor.close());
  return compactor;
}

/** Entries of a turn that keeps a thread busy for a while. */
const TURN = length(100);

/** Number of resident sessions. */
function residentsOf(compactor: Compactor): number | undefined {
  return compactor.stats().residents?.residentSessions;
}

/** Adds entries and opens two windows. The second one finds nothing to edit, so nothing is pending after it. */
async function playTurn(session: Session, entries: readonly IContent[]): Promise<void> {
  session.history.addAll(entries);
  await session.ensureCompressionBeforeSend('turn');
  session.history.add(humanText('and now?'));
  await session.ensureCompressionBeforeSend('rest');
}

async function openSessions(
  compactor: Compactor,
  histories: readonly (readonly IContent[])[],
): Promise<Session[]> {
  const sessions: Session[] = [];
  for (const history of histories) {
    const session = await compactor.createSession();
    await playTurn(session, history);
    sessions.push(session);
  }
  return sessions;
}

/** Opens a window that lands its edit. After an abort nothing was sent, so entries may be edited again. */
async function playLikewise(session: Session, isSent: boolean): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  if (!isSent) session.once('pruned', () => controller.abort());
  await session
    .ensureCompressionBeforeSend('turn', 0, 'test', { signal })
    .catch((error: unknown) => {
      if (isSent) throw error;
    });
}

function histories(count: number, entries: number): IContent[][] {
  return Array.from({ length: count }, (_, at) => generateHistory({ entries, seed: at + 1 }));
}

/** Opens a compactor. Resolves once all of its threads run. */
async function openWarm(threads: number): Promise<{ compactor: Compactor; workers: Worker[] }> {
  const workers: Worker[] = [];
  const ready: Promise<void>[] = [];
  const onWorker = (worker: Worker): void => {
    workers.push(worker);
    ready.push(new Promise((isReady) => worker.once('online', () => isReady())));
  };
  process.on('worker', onWorker);
  onTestFinished(() => void process.off('worker', onWorker));
  const compactor = open({ threads });
  const [first] = await openSessions(compactor, histories(1, 5));
  await Promise.all(ready);
  await first?.close();
  return { compactor, workers };
}

async function expectAsInline(
  session: Session,
  play: (inline: Session) => Promise<unknown>,
): Promise<void> {
  const inline = await open({ offload: 'inline' }).createSession();
  await play(inline);
  expect(session.history.getAll()).toEqual(inline.history.getAll());
  expect(session.history.getTotalTokens()).toBe(inline.history.getTotalTokens());
}

describe('sessions with resident histories', () => {
  it('spread evenly, and lose no more than their own thread', async () => {
    const { compactor, workers } = await openWarm(2);
    expect(workers).toHaveLength(2);
    const sessions = await openSessions(compactor, histories(6, 30));
    const lost = new Set<Session>();
    for (const session of sessions) session.on('fallback', () => lost.add(session));
    expect(residentsOf(compactor)).toBe(6);
    await workers[0]?.terminate();
    while (residentsOf(compactor) === 6) await nextImmediate();
    // With its next change, each session notices whether its line still exists.
    for (const session of sessions) await playTurn(session, [humanText('are you there?')]);
    expect(lost.size).toBe(3);
    expect(residentsOf(compactor)).toBe(6);
    expect(sessions.map((session) => session.stats().openings).toSorted()).toEqual([
      1, 1, 1, 2, 2, 2,
    ]);
  });

  it('wait for a thread when all open at once, and never run inline instead', async () => {
    const count = length(60);
    const compactor = open({ threads: 1 });
    await Promise.all(
      histories(count, 20).map(async (history) => {
        const session = await compactor.createSession({ history });
        await session.ensureCompressionBeforeSend('turn');
      }),
    );
    expect(compactor.stats()).toMatchObject({ fallbacks: 0, failures: 0 });
    expect(residentsOf(compactor)).toBe(count);
  });

  it('leave their thread when they are closed', async () => {
    const compactor = open({ threads: 1 });
    const sessions = await openSessions(compactor, histories(3, 30));
    expect(residentsOf(compactor)).toBe(3);
    await sessions[1]?.close();
    expect(residentsOf(compactor)).toBe(2);
    expect(compactor.stats().sessions).toBe(2);
    await Promise.all(sessions.map((session) => session.close()));
    expect(compactor.stats()).toMatchObject({
      sessions: 0,
      residents: { residentSessions: 0, openings: 3, evictions: 0 },
    });
  });

  it('are evicted when there are too many, the least recently used first', async () => {
    const compactor = open({ threads: 1, maxResidentSessions: 2 });
    const sessions = await openSessions(compactor, histories(2, 30));
    const [one, other] = sessions as [Session, Session];
    await playTurn(one, [humanText('still here')]);
    expect(compactor.stats().residents).toMatchObject({ residentSessions: 2, evictions: 0 });
    await openSessions(compactor, histories(1, 30));
    expect(compactor.stats().residents).toMatchObject({ residentSessions: 2, evictions: 1 });
    // The previously used session is still there, so the other one opens a new line.
    await playTurn(one, [humanText('still here')]);
    expect(one.stats().openings).toBe(1);
    await playTurn(other, [humanText('back again')]);
    expect(other.stats().openings).toBe(2);
    expect(compactor.stats().residents).toMatchObject({ residentSessions: 2, evictions: 2 });
    expect(compactor.stats().fallbacks).toBe(0);
  });

  it('have the same result, however often they are evicted', async () => {
    const compactor = open({ threads: 2, maxResidentSessions: 2 });
    const stories = histories(4, TURN * 4);
    const sessions = await Promise.all(stories.map(() => compactor.createSession()));
    const turnsOf = (story: readonly IContent[]): IContent[][] =>
      Array.from({ length: 4 }, (_, turn) => story.slice(turn * TURN, (turn + 1) * TURN));
    for (let turn = 0; turn < 4; turn += 1) {
      for (const [at, session] of sessions.entries()) {
        await playTurn(session, turnsOf(stories[at] ?? [])[turn] ?? []);
        expect(residentsOf(compactor)).toBeLessThanOrEqual(2);
      }
    }
    expect(compactor.stats().residents).toMatchObject({ openings: 16, evictions: 14 });
    expect(compactor.stats().fallbacks).toBe(0);
    for (const [at, session] of sessions.entries()) {
      expect(session.stats()).toMatchObject({ openings: 4, inlineTasks: 0 });
      await expectAsInline(session, async (inline) => {
        for (const entries of turnsOf(stories[at] ?? [])) await playTurn(inline, entries);
      });
    }
  });

  it('do not keep the process alive while their lines are open', async () => {
    const source = `
      import { createCompactor, humanText } from 'ctxfold';
      const compactor = createCompactor({ offload: 'resident' });
      globalThis.session = await compactor.createSession({ history: [humanText('hello')] });
      console.log((await session.ensureCompressionBeforeSend('p1')).totalTokens);
      console.log(compactor.stats().residents.residentSessions);`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', source],
      { cwd: PACKAGE_ROOT, env: {}, timeout: 120_000, killSignal: 'SIGKILL' },
    );
    expect(stdout).toBe('4\n1\n');
  });
});

describe('Compactor.close', () => {
  it('keeps the process alive until its threads have stopped', async () => {
    const source = `
      import { Worker } from 'node:worker_threads';
      import { createCompactor, humanText } from 'ctxfold';
      const { terminate } = Worker.prototype;
      Worker.prototype.terminate = function () {
        return new Promise((resolve) => setTimeout(() => resolve(terminate.call(this)), 100).unref());
      };
      const compactor = createCompactor({ offload: 'resident' });
      const session = await compactor.createSession({ history: [humanText('hello')] });
      await session.ensureCompressionBeforeSend('p1');
      await compactor.close();
      console.log('closed');`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', source],
      { cwd: PACKAGE_ROOT, env: {}, timeout: 120_000, killSignal: 'SIGKILL' },
    );
    expect(stdout).toBe('closed\n');
  });

  it.each([0, 2, 10])(
    'leaves nobody waiting whose line is busy (after %d turns)',
    async (turns) => {
      const unhandled: unknown[] = [];
      const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
      process.on('unhandledRejection', onUnhandled);
      onTestFinished(() => void process.off('unhandledRejection', onUnhandled));

      const { compactor } = await openWarm(2);
      const sessions = await openSessions(compactor, histories(4, 20));
      const waiting: Promise<unknown>[] = [];
      for (const [at, session] of sessions.entries()) {
        session.history.addAll(generateHistory({ entries: length(300), seed: at + 5 }));
        waiting.push(session.history.waitForTokenUpdates());
        // Closing a session waits for its open window, so some lines end while busy.
        if (at > 1) continue;
        waiting.push(session.ensureCompressionBeforeSend('open'));
        waiting.push(session.ensureCompressionBeforeSend('queued'));
      }
      const outcomes = Promise.allSettled(waiting);
      for (let turn = 0; turn < turns; turn += 1) await nextImmediate();
      const closing = sessions[0]?.close();
      await compactor.close();
      await closing;
      for (const outcome of await outcomes) {
        if (outcome.status === 'fulfilled') continue;
        const { code, cause } = outcome.reason as CtxfoldError;
        const reason = code === 'TOKEN_COUNT_FAILED' ? cause : outcome.reason;
        expect(reason).toMatchObject({ code: 'CLOSED' });
      }
      for (const session of sessions) {
        const after = session.ensureCompressionBeforeSend('after');
        await expect(after).rejects.toMatchObject({ code: 'CLOSED' });
      }
      expect(compactor.stats()).toMatchObject({
        sessions: 0,
        residents: { residentSessions: 0 },
        pool: { runningTasks: 0, queuedTasks: 0 },
      });
      await nextImmediate();
      expect(unhandled).toEqual([]);
    },
  );
});

describe('a window that is called off', () => {
  it('rejects with the reason, and the session goes on with its line', async () => {
    const compactor = open({ threads: 1 });
    const [history] = histories(1, TURN * 10);
    const portions = Array.from({ length: 10 }, (_, at) =>
      (history ?? []).slice(at * TURN, (at + 1) * TURN),
    );
    const session = await compactor.createSession();
    const inline = await open({ offload: 'inline' }).createSession();
    const reasons: unknown[] = [];
    for (const [turns, entries] of portions.entries()) {
      for (const { history } of [session, inline]) history.addAll(entries);
      const controller = new AbortController();
      const { signal } = controller;
      const reason = new Error(`called off after ${turns} turns`);
      const { revision } = session.history;
      const window = session.ensureCompressionBeforeSend('turn', 0, 'test', { signal });
      const outcome = window.then(
        () => 'done',
        (error: unknown) => error,
      );
      // Aborts before anything is posted, during counting, or while the pass is pending.
      for (let turn = 0; turn < turns; turn += 1) await nextImmediate();
      controller.abort(reason);
      const hasLanded = session.history.revision !== revision;
      expect([reason, 'done']).toContain(await outcome);
      reasons.push(await outcome);
      // Edits are atomic, and none lands after an abort once the window has closed.
      await session.history.waitForTokenUpdates();
      for (let turn = 0; turn < 5; turn += 1) await nextImmediate();
      expect(session.history.revision !== revision).toBe(hasLanded);
      if (hasLanded) await playLikewise(inline, (await outcome) === 'done');
    }
    // Nothing had been posted by then.
    expect(reasons[0]).toMatchObject({ message: 'called off after 0 turns' });
    for (const each of [session, inline]) await playTurn(each, [humanText('and now?')]);
    expect(session.history.getAll()).toEqual(inline.history.getAll());
    expect(session.history.getTotalTokens()).toBe(inline.history.getTotalTokens());
    expect(session.stats()).toMatchObject({ openings: 1, fallbacks: 0 });
    expect(session.stats().residentPasses).toBeGreaterThan(0);
  });
});
