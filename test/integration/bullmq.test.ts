import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue, Worker } from 'bullmq';
import { createCompactor } from 'ctxfold';
import type { IContent, Summarizer, SummarizerRequest } from 'ctxfold';
import { queuedSummarizer, summaryProcessor } from 'ctxfold/bullmq';
import type { SummaryJobData } from 'ctxfold/bullmq';
import { memoryStore } from 'ctxfold/state';
import { redisStore } from 'ctxfold/redis';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isInstalled, startRedis } from '../../examples/support/databases.js';
import type { Database } from '../../examples/support/databases.js';
import { COMMAND, spawnCommand } from '../support/run-command.js';
import { scriptedSummarizer, snapshot } from '../support/scripted-summarizer.js';

const isThere = isInstalled('redis-server');
const SECRET = 'what nobody but the store may hold';

const REQUEST = {
  system: 'summarize',
  prompt: SECRET,
  maxOutputTokens: 100,
  signal: new AbortController().signal,
};

/** For busy machines: a slow worker or server must not count as missing. */
const PATIENT = { takenWithinMs: 60_000 };

/** A summarizer that must not be called. */
const NEVER: Summarizer = {
  contextLimit: 128_000,
  generate: () => Promise.reject(new Error('This process was asked.')),
};

describe.skipIf(!isThere)(
  isThere ? 'ctxfold/bullmq' : 'ctxfold/bullmq (skipped: no redis-server)',
  () => {
    let server: Database;
    let client: Redis;
    let queue: Queue;
    let name = 0;
    const workers: Worker[] = [];

    beforeAll(async () => {
      server = await startRedis();
      client = new Redis(server.port, '127.0.0.1', { maxRetriesPerRequest: null });
    });

    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.close()));
      await queue.close();
    });

    afterAll(async () => {
      client.disconnect();
      await server.stop();
    });

    /** A fresh queue with workers that use this summarizer. */
    function open(summarizer?: Summarizer, count: number = 1) {
      const store = redisStore(client, { prefix: `s${(name += 1)}:`, deadlineMs: 60_000 });
      queue = new Queue(`q${name}`, { connection: client });
      if (summarizer !== undefined) {
        const work = summaryProcessor(summarizer, { store });
        for (let at = 0; at < count; at += 1) {
          const processor = (...args: Parameters<typeof work>) => work(args[0], args[1], args[2]);
          Object.defineProperty(processor, 'length', { value: 3 });
          const connection = client.duplicate();
          const worker = new Worker(queue.name, processor, { connection, drainDelay: 1 });
          worker.on('closed', () => connection.disconnect());
          workers.push(worker);
        }
      }
      return { store, queue };
    }

    /** The contents of a store that `open` made. */
    async function textsIn(store: number): Promise<string> {
      const keys = await client.keys(`s${store}:*`);
      return JSON.stringify(await Promise.all(keys.map((key) => client.hgetall(key))));
    }

    it('has a worker write the summary of a session, and holds nothing of the history in its job', async () => {
      const model = scriptedSummarizer(snapshot('the goal'));
      const { store } = open(model);
      const summarizer = queuedSummarizer(NEVER, { ...PATIENT, queue, store });
      const compactor = createCompactor({
        preset: 'specification',
        contextLimit: 4_000,
        offload: 'inline',
        summarizer,
        settings: { 'compression.strategy': 'one-shot', 'compression.ahead': 1 },
      });
      const session = await compactor.createSession({ sessionId: 'one' });
      for (let at = 0; at < 60; at += 1)
        session.history.add(said(at % 2 === 0 ? 'human' : 'ai', at));
      const { compressed } = await session.ensureCompressionBeforeSend('p', 0, 'test');
      expect(compressed).toMatchObject({ outcome: 'applied', llmCallMade: true });
      expect(JSON.stringify(session.history.getRawHistory())).toContain('the goal');
      expect(model.requests).toHaveLength(1);
      const [job] = await queue.getCompleted();
      expect(job?.data).toEqual({ key: job?.id, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
      expect(JSON.stringify(job)).not.toContain('word');
      await compactor.close();
    });

    it('lands the summary that a former process has asked for, and lets its job go on', async () => {
      let answer = (): void => undefined;
      const asked: SummarizerRequest[] = [];
      const { store } = open({
        contextLimit: 128_000,
        generate: (request) =>
          new Promise((resolve) => {
            asked.push(request);
            answer = () => resolve({ text: snapshot('the goal'), finishReason: 'stop' });
          }),
      });
      const history = Array.from({ length: 60 }, (_, at) =>
        said(at % 2 === 0 ? 'human' : 'ai', at),
      );
      const serve = async (isDone: () => boolean): Promise<string> => {
        await using compactor = createCompactor({
          contextLimit: 5_000,
          offload: 'inline',
          store: redisStore(client, { prefix: `states-${name}:`, deadlineMs: 60_000 }),
          summarizer: queuedSummarizer(NEVER, { ...PATIENT, queue, store }),
          settings: { 'compression.strategy': 'one-shot' },
        });
        const session = await compactor.createSession({ sessionId: 'one', history: [...history] });
        await session.ensureCompressionBeforeSend('p', 0, 'test');
        await expect.poll(isDone).toBe(true);
        return JSON.stringify(session.history.getRawHistory());
      };
      expect(await serve(() => asked.length === 1)).not.toContain('the goal');
      answer();
      await expect.poll(async () => (await queue.getCompleted()).length).toBe(1);
      history.push(said('human', 60));
      const sent = await serve(() => true);
      expect(sent.includes('the goal')).toBe(true);
      expect(sent.includes('turn 60')).toBe(true);
      expect(asked).toHaveLength(1);
    });

    it('has one worker answer what several processes ask at once', async () => {
      const model = scriptedSummarizer('once');
      const { store } = open(model, 2);
      const asked = Array.from({ length: 6 }, (_, at) =>
        queuedSummarizer(NEVER, { ...PATIENT, queue, store }).generate({
          ...REQUEST,
          prompt: `${SECRET}, with nonce ${at}`,
          id: 'a'.repeat(64),
        }),
      );
      const answers = await Promise.all(asked);
      expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['once']));
      expect(model.requests).toHaveLength(1);
      // Later callers get the stored answer at once.
      const later = queuedSummarizer(NEVER, { ...PATIENT, queue, store });
      expect((await later.generate({ ...REQUEST, id: 'a'.repeat(64) })).text).toBe('once');
      expect(model.requests).toHaveLength(1);
    });

    it('retries when the model fails, and records the failure in the queue without what a provider quotes', async () => {
      let calls = 0;
      const { store } = open({
        contextLimit: 1,
        generate: ({ prompt }) => {
          calls += 1;
          const words = `no key sk-canary may ask: ${prompt}`;
          return Promise.reject(Object.assign(new Error(words), { statusCode: 401 }));
        },
      });
      const summarizer = queuedSummarizer(NEVER, { ...PATIENT, queue, store });
      const reason = "The summarizer's model could not answer with status 401.";
      await expect(summarizer.generate(REQUEST)).rejects.toMatchObject({
        code: 'SUMMARIZER_FAILED',
        message: `The worker failed: ${reason}`,
      });
      expect(calls).toBe(3);
      const [job] = await queue.getFailed();
      expect(job?.failedReason).toBe(reason);
      expect(JSON.stringify(job)).not.toMatch(/sk-canary|may ask/);
      const kept = await client.hgetall(`bull:${queue.name}:${job?.id ?? ''}`);
      expect(kept['failedReason']).toBe(reason);
      expect(await textsIn(name)).not.toContain(SECRET);
      expect(JSON.stringify(kept)).not.toMatch(/sk-canary|may ask/);
    });

    it('asks the model itself when no worker takes the job, and withdraws it', async () => {
      const { store } = open();
      const warnings: string[] = [];
      const logger = {
        debug: () => undefined,
        error: () => undefined,
        warn: (text: string) => warnings.push(text),
      };
      const model = scriptedSummarizer('here');
      const summarizer = queuedSummarizer(model, { queue, store, takenWithinMs: 100, logger });
      expect((await summarizer.generate(REQUEST)).text).toBe('here');
      expect(warnings).toHaveLength(1);
      await expect.poll(() => queue.getJobCounts()).toMatchObject({ waiting: 0, active: 0 });
    });

    it('asks the model itself when the last worker has died with the job', async () => {
      const generate = vi.fn(() => new Promise<never>(() => undefined));
      const { store } = open({ contextLimit: 1, generate });
      const counted = vi.spyOn(queue, 'getWorkersCount');
      const model = scriptedSummarizer('here');
      const clock = stopClock();
      let answer: string | undefined;
      const asked = queuedSummarizer(model, { queue, store }).generate(REQUEST);
      const ended = asked.then(({ text }) => (answer = text));
      const counts = (): readonly unknown[] =>
        counted.mock.settledResults.map(({ value }): unknown => value);
      await expect.poll(counts).toContain(1);
      await expect.poll(() => generate.mock.calls.length).toBe(1);
      await workers.pop()?.close(true);
      await expect.poll(() => ((clock.nowMs += 60_000), answer)).toBe('here');
      await ended;
    });

    it('leaves no data of a job whose workers have died', async () => {
      const store = memoryStore();
      const { put } = store;
      const texts: string[][] = [];
      store.put = (key, hash, text) => (texts.push([key, hash, text]), put!(key, hash, text));
      const failing = {
        add: async () => undefined,
        getJob: async () => ({
          failedReason: 'job stalled more than allowable limit',
          getState: async () => 'failed',
          remove: async () => undefined,
        }),
      };
      const one = queuedSummarizer(NEVER, { queue: failing, store });
      await expect(one.generate(REQUEST)).rejects.toMatchObject({ code: 'SUMMARIZER_FAILED' });
      const [[key = '', hash = '', text] = []] = texts;
      expect(text).toContain(SECRET);
      expect(await store.get!(key, hash)).toBeNull();
    });

    it('asks the model itself when the job kills the only worker', async () => {
      open();
      const clock = stopClock();
      let workersLeft = 1;
      const deadly = {
        add: async () => (workersLeft = 0),
        getJob: async () => ({
          getState: async () => ((clock.nowMs += 3_000), 'active'),
          remove: async () => undefined,
        }),
        getWorkersCount: async () => workersLeft,
      };
      const one = queuedSummarizer(scriptedSummarizer('here'), {
        queue: deadly,
        store: memoryStore(),
      });
      const signal = AbortSignal.timeout(60_000);
      expect((await one.generate({ ...REQUEST, signal })).text).toBe('here');
    });

    it('waits for a worker where the server does not list who is connected', async () => {
      const clock = stopClock();
      let looks = 0;
      const { store } = open({
        contextLimit: 1,
        generate: async () => {
          // Longer each time than the wait for a worker.
          for (let times = 0; times < 2; times += 1) {
            clock.nowMs += 60_000;
            const before = looks;
            await expect.poll(() => looks).toBeGreaterThan(before);
          }
          return { text: 'by a worker', finishReason: 'stop' };
        },
      });
      for (const list of [() => Promise.resolve(0), () => Promise.reject(new Error('NOPERM'))]) {
        vi.spyOn(queue, 'getWorkersCount').mockImplementation(() => ((looks += 1), list()));
        const one = queuedSummarizer(NEVER, { queue, store });
        expect((await one.generate(REQUEST)).text).toBe('by a worker');
      }
    });

    it('asks the model itself when the queue or the store is gone', async () => {
      open();
      const gone = () => Promise.reject(new Error('ECONNREFUSED'));
      const silent = () => new Promise<never>(() => undefined);
      for (const fail of [gone, silent]) {
        const store = memoryStore({ deadlineMs: 20 });
        const broken = { add: fail, getJob: fail };
        const one = queuedSummarizer(scriptedSummarizer('here'), { queue: broken, store });
        expect((await one.generate(REQUEST)).text).toBe('here');
        const failing = {
          ...memoryStore(),
          limits: { deadlineMs: 20 },
          save: fail,
          load: fail,
          delete: fail,
          put: fail,
          get: fail,
        };
        const other = queuedSummarizer(scriptedSummarizer('here'), { queue, store: failing });
        expect((await other.generate(REQUEST)).text).toBe('here');
      }
    });

    it('asks the model itself when the job was cancelled between two polls', async () => {
      const failing = (failedReason?: string) => ({
        failedReason,
        getState: async () => 'failed',
        remove: async () => undefined,
      });
      for (const [reason, text] of [
        ['The session has moved on, or was closed.', 'here'],
        [undefined, 'here'],
        ['No key.', 'The worker failed: No key.'],
      ] as const) {
        let looks = 0;
        const job = () => (looks < 3 ? failing() : reason && failing(reason));
        const raced = { add: async () => undefined, getJob: async () => (looks++, job()) };
        const one = queuedSummarizer(scriptedSummarizer('here'), {
          queue: raced as unknown as Queue,
          store: memoryStore(),
        });
        const said = one.generate({ ...REQUEST }).then(
          (answer) => answer.text,
          (thrown: unknown) => (thrown as Error).message,
        );
        expect(await said).toBe(text);
      }
    });

    it('cancels an outdated job: the worker stops within a second or so, and does not retry', async () => {
      let ended: unknown;
      let calls = 0;
      let begin = (): void => undefined;
      const began = new Promise<void>((resolve) => (begin = resolve));
      const { store } = open({
        contextLimit: 1,
        generate: ({ signal }) =>
          new Promise((_, reject) => {
            calls += 1;
            begin();
            signal.addEventListener('abort', () => {
              ended = signal.reason;
              reject(signal.reason as Error);
            });
          }),
      });
      const overtaken = new AbortController();
      const asked = queuedSummarizer(NEVER, { ...PATIENT, queue, store }).generate({
        ...REQUEST,
        signal: overtaken.signal,
      });
      await began;
      overtaken.abort(new Error('overtaken'));
      await expect(asked).rejects.toThrow('overtaken');
      await expect.poll(async () => (await queue.getFailed()).length).toBe(1);
      const [job] = await queue.getFailed();
      expect(job?.failedReason).toMatch(/moved on/);
      const { key, hash } = job!.data as SummaryJobData;
      expect(await store.get?.(key, hash)).toBeNull();
      expect(ended).toBeInstanceOf(Error);
      expect(calls).toBe(1);
    });

    it('asks the model itself when another waiter cancelled the job', async () => {
      let begin = (): void => undefined;
      const began = new Promise<void>((resolve) => (begin = resolve));
      const { store } = open({
        contextLimit: 1,
        generate: ({ signal }) =>
          new Promise((_, reject) => {
            begin();
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          }),
      });
      const added = vi.spyOn(queue, 'add');
      const hasAskedAgain = async (): Promise<void> => {
        await expect.poll(() => added.mock.settledResults.length).toBe(3);
      };
      // The worker ends after it has read this.
      const get = store.get!.bind(store);
      vi.spyOn(store, 'get').mockImplementation(async (key, name) => {
        if (name === 'called off') await hasAskedAgain();
        return get(key, name);
      });
      const stopped = new AbortController();
      const request = { ...REQUEST, id: 'c'.repeat(64) };
      const asked = queuedSummarizer(NEVER, { ...PATIENT, queue, store }).generate({
        ...request,
        signal: stopped.signal,
      });
      await began;
      const other = queuedSummarizer(scriptedSummarizer('here'), { queue, store });
      const answer = other.generate(request);
      stopped.abort(new Error('stopped'));
      await expect(asked).rejects.toThrow('stopped');
      // A second request before the worker has finished waits for the same job.
      const again = queuedSummarizer(scriptedSummarizer('again'), { queue, store });
      expect(
        (await Promise.all([answer, again.generate(request)])).map(({ text }) => text),
      ).toEqual(['here', 'again']);
    });

    it('repeats a job whose worker died after the answer, without asking the model again', async () => {
      const model = scriptedSummarizer('once');
      const { store } = open(model);
      const work = summaryProcessor(model, { store });
      await queuedSummarizer(NEVER, { ...PATIENT, queue, store }).generate({
        ...REQUEST,
        id: 'b'.repeat(64),
      });
      const [job] = await queue.getCompleted();
      expect(await work({ data: job!.data })).toEqual({
        answer: `summary-${'b'.repeat(64)}-answer`,
      });
      expect(model.requests).toHaveLength(1);
    });

    it('takes the answer of an SDK, whose text is a getter', async () => {
      class Result {
        get text(): string {
          return 'by a getter';
        }
        get finishReason(): 'stop' {
          return 'stop';
        }
      }
      const { store } = open({ contextLimit: 1, generate: () => Promise.resolve(new Result()) });
      const asked = queuedSummarizer(NEVER, { ...PATIENT, queue, store }).generate(REQUEST);
      expect((await asked).text).toBe('by a getter');
    });

    it('asks the model itself when the request is no longer in the store', async () => {
      open(NEVER);
      const forgetful = memoryStore();
      const here = queuedSummarizer(scriptedSummarizer('here'), { queue, store: forgetful });
      expect((await here.generate(REQUEST)).text).toBe('here');
    });

    it('asks no model in a worker that was told to stop', async () => {
      const model = scriptedSummarizer('never');
      const { store } = open();
      const work = summaryProcessor(model, { store });
      const text = JSON.stringify({ prompt: 'go on' });
      const hash = createHash('sha256').update(text).digest('hex');
      await store.put!('key', hash, text);
      const job = { data: { key: 'key', hash } };
      await expect(work(job, '', AbortSignal.abort())).rejects.toThrow('told to end');
      expect(model.requests).toHaveLength(0);
    });

    it('has a command process the queue, and shuts it down cleanly', async () => {
      open();
      const url = `redis://127.0.0.1:${server.port}`;
      const folder = await mkdtemp(join(tmpdir(), 'ctxfold-worker-'));
      const module = join(folder, 'summarizer.mjs');
      await writeFile(
        module,
        `export default { contextLimit: 1, generate: async () => ({ text: 'by the command', finishReason: 'stop' }) };`,
      );
      const args = ['worker', '--redis', url, '--summarizer', module, '--queue', queue.name];
      const child = spawn(process.execPath, [COMMAND, ...args], { stdio: 'pipe' });
      const ended = once(child, 'exit');
      const shared = redisStore(client, { deadlineMs: 60_000 });
      const asked = queuedSummarizer(NEVER, { ...PATIENT, queue, store: shared });
      expect((await asked.generate(REQUEST)).text).toBe('by the command');
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
      await rm(folder, { recursive: true });
    });

    it('refuses a job that was forged, or whose request is another', async () => {
      const { store } = open();
      const model = scriptedSummarizer('never');
      const work = summaryProcessor(model, { store });
      await store.put!('key', 'f'.repeat(64), JSON.stringify({ prompt: 'another' }));
      for (const data of [null, {}, { key: 1, hash: 2 }, { key: 'key', hash: 'f'.repeat(64) }]) {
        await expect(work({ data })).rejects.toThrow(/key and a hash|not in the store/);
      }
      expect(model.requests).toHaveLength(0);
    });
  },
);

describe('ctxfold worker without Redis', () => {
  const NOWHERE = 'redis://127.0.0.1:1';
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ctxfold-worker-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Writes a module and returns the arguments of a worker that loads it. */
  async function argsWith(code: string, redis: string = NOWHERE): Promise<string[]> {
    const module = join(folder, 'summarizer.mjs');
    await writeFile(module, code);
    return ['worker', '--redis', redis, '--summarizer', module];
  }

  it.each([
    [
      'exports no summarizer',
      'export const summarizer = 1;',
      2,
      /Expected a summarizer: an object/,
    ],
    ['is damaged', '{', 1, /summarizer\.mjs cannot be loaded: Unexpected end of input/],
  ])('ends at once when its module %s', async (_, code, expected, message) => {
    const { code: exit, stderr } = await spawnCommand(await argsWith(code));
    expect(exit).toBe(expected);
    expect(stderr).toMatch(message);
  });

  it.each([
    ['a name of its queue that BullMQ does not take', ['--queue', 'a:b'], 'without colons'],
    ['a store that is none', ['--store', 'foo://bar'], 'got a URL'],
  ])('ends at once with %s', async (_, given, message) => {
    const args = await argsWith('export default { contextLimit: 1, generate: async () => ({}) };');
    const { code, stderr } = await spawnCommand([...args, ...given]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('refuses an address that would be taken for a directory', async () => {
    for (const address of ['127.0.0.1:6379', 'reds://:canary@10.0.0.7', 'redis://:can ary@[::']) {
      const { code, stderr } = await spawnCommand(await argsWith('', address));
      expect(code).toBe(2);
      expect(stderr).toContain('--redis: expected a URL such as redis://127.0.0.1:6379.');
      expect(stderr).not.toMatch(/can ?ary/);
    }
  });

  it('ends when it is asked to', async () => {
    const args = await argsWith('export default { contextLimit: 1, generate: async () => ({}) };');
    const child = spawn(process.execPath, [COMMAND, ...args], { stdio: 'pipe' });
    const ended = once(child, 'exit');
    for await (const text of child.stderr) {
      if (!String(text).includes('ECONNREFUSED')) continue;
      child.kill('SIGTERM');
      break;
    }
    expect(await ended).toEqual([0, null]);
  });
});

/** A clock that only a test advances, so that a slow machine does not matter. */
function stopClock(): { nowMs: number } {
  const clock = { nowMs: performance.now() };
  const now = vi.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  onTestFinished(() => now.mockRestore());
  return clock;
}

function said(speaker: 'human' | 'ai', at: number): IContent {
  return { speaker, blocks: [{ type: 'text', text: `turn ${at} `.concat('word '.repeat(60)) }] };
}
