// Conversations that move between processes over a store: found by id or first entries, not lost to a failing store, and decided by one of two concurrent
// processes.

import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMessageCompactor } from '../../../src/adapters/conversation/message-compactor.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import type { StateStore } from '../../../src/main/state/state-store.js';
import type { IContent } from '../../../src/shared/content.js';
import type { CtxfoldError } from '../../../src/shared/errors.js';
import { findViolations } from '../../../src/shared/validity.js';
import { historyOf } from '../../support/notation.js';
import {
  answer,
  assistant,
  call,
  PLAIN_MESSAGE_FORMAT,
  user,
} from '../../support/plain-message-format.js';
import type { PlainMessage } from '../../support/plain-message-format.js';
import { requestsOf } from '../../support/resumed-session.js';

const COMPACTOR = { offload: 'inline', tokenizer: 'estimate', preset: 'specification' } as const;
const HISTORY = historyOf(
  'h a:r1 t:r1 a:w2 t:w2 h a:r3(b.ts) t:r3 a:w4(b.ts) t:w4 h a:r5(c.ts) t:r5 a:w6(c.ts) t:w6 h',
);
const REQUESTS = requestsOf(HISTORY);

/** Files that are read and written, over and over. */
const MESSAGES: readonly PlainMessage[] = [
  user('go'),
  ...Array.from({ length: 12 }, (_, at) => {
    const path = `src/${at % 3}.ts`;
    const isRead = at % 2 === 0;
    const use = call(`c${at}`, isRead ? 'read_file' : 'write_file', { path, content: `${at}` });
    return [assistant(`step ${at}`, use), answer(`c${at}`, 'tool', `line ${at}\n`.repeat(80))];
  }).flat(),
];

/** What each request sends: with a store, each from a new process, and otherwise all from one. */
async function play(options: CompactorOptions, sessionId?: string): Promise<readonly IContent[][]> {
  const raw: IContent[] = [];
  const sent: IContent[][] = [];
  for (const entries of REQUESTS) {
    await using compactor = createCompactor({ ...COMPACTOR, ...options });
    raw.push(...entries);
    const session = await compactor.createSession({
      history: structuredClone(raw),
      sessionId,
      edits: 'batched',
      minReclaimTokens: 1,
    });
    await session.ensureCompressionBeforeSend('request');
    sent.push(session.history.getAll());
  }
  return sent;
}

async function playInOne(): Promise<readonly IContent[][]> {
  await using compactor = createCompactor(COMPACTOR);
  const session = await compactor.createSession({ edits: 'batched', minReclaimTokens: 1 });
  const sent: IContent[][] = [];
  for (const entries of REQUESTS) {
    session.history.addAll(entries);
    await session.ensureCompressionBeforeSend('request');
    sent.push(session.history.getAll());
  }
  return sent;
}

describe('createCompactor with a store', () => {
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ctxfold-store-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  const stores: readonly [string, () => StateStore | string][] = [
    ['in memory', memoryStore],
    ['in a directory', () => join(directory, 'states')],
  ];

  it.each(stores)(
    'sends in each process what a single process would send, with a store %s',
    async (_, make) => {
      const one = await playInOne();
      const store = make();
      for (const sessionId of ['a conversation', undefined]) {
        const sent = await play({ store }, sessionId);
        expect(sent).toEqual(one);
      }
    },
  );

  it.each(['named', undefined])(
    'has adapters send what a single process would send, for a conversation that is %s',
    async (conversationId) => {
      const play = async (isOne: boolean): Promise<readonly PlainMessage[][]> => {
        const options = { ...COMPACTOR, preset: undefined, store: memoryStore() };
        let compactor = createCompactor(options);
        const sent: PlainMessage[][] = [];
        for (let end = 1; end <= MESSAGES.length; end += 2) {
          if (!isOne) {
            await compactor.close();
            compactor = createCompactor(options);
          }
          const compact = createMessageCompactor(compactor, PLAIN_MESSAGE_FORMAT, {
            ...{ edits: 'batched', minReclaimTokens: 10, onError: 'throw' },
          });
          const messages = isOne ? MESSAGES : structuredClone(MESSAGES);
          sent.push(await compact(messages.slice(0, end), { conversationId }));
        }
        await compactor.close();
        return sent;
      };
      const one = await play(true);
      expect(await play(false)).toEqual(one);
      expect(JSON.stringify(one.at(-1)).length).toBeLessThan(0.8 * JSON.stringify(MESSAGES).length);
    },
  );

  it.each<[string, Partial<StateStore>]>([
    [
      'rejects',
      {
        load: () => Promise.reject(new Error('gone')),
        save: () => Promise.reject(new Error('gone')),
      },
    ],
    ['never answers', { load: () => new Promise(() => undefined), limits: { deadlineMs: 5 } }],
    [
      'throws',
      {
        load: () => {
          throw new Error('gone');
        },
      },
    ],
    ['returns nonsense', { load: () => Promise.resolve({ state: '{"version":', version: 3 }) }],
  ])('goes on without a store that %s, and warns once', async (_, broken) => {
    const warn = vi.fn();
    const store = { ...open(memoryStore()), ...broken };
    const logger = { ...SILENT_LOGGER, warn };
    await using compactor = createCompactor({ ...COMPACTOR, store, logger });
    const session = await compactor.createSession({ history: HISTORY });
    await session.ensureCompressionBeforeSend('request');
    await session.ensureCompressionBeforeSend('request');
    expect(session.history.length).toBeLessThan(HISTORY.length);
    expect(warn.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it('asks a store that rejects once more before it continues without a state', async () => {
    const kept = memoryStore();
    let loads = 0;
    const load: StateStore['load'] = (key) => {
      loads += 1;
      return loads % 2 === 1 ? Promise.reject(new Error('reset')) : kept.load(key);
    };
    for (const requests of [1, 2, 3]) {
      await using compactor = createCompactor({ ...COMPACTOR, store: { ...open(kept), load } });
      const session = await compactor.createSession({ history: HISTORY, sessionId: 'one' });
      await session.ensureCompressionBeforeSend('request');
      expect(session.costs().requests).toBe(requests);
    }
  });

  it('warns about a store once per outage, not once per session or turn', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const warn = vi.fn();
    const kept = memoryStore();
    let isFull = true;
    const save: StateStore['save'] = (...args) =>
      isFull ? Promise.reject(new Error('no space left on device')) : kept.save(...args);
    await using compactor = createCompactor({
      ...{ ...COMPACTOR, store: { ...open(kept), save } },
      logger: { ...SILENT_LOGGER, warn },
    });
    const sessions = await Promise.all(
      ['a', 'b', 'c'].map((sessionId) =>
        compactor.createSession({ history: HISTORY.slice(0, 5), sessionId }),
      ),
    );
    const turns = async (): Promise<void> => {
      for (const session of [...sessions, ...sessions]) {
        session.history.add({ speaker: 'human', blocks: [{ type: 'text', text: 'On.' }] });
        await session.ensureCompressionBeforeSend('request');
        vi.advanceTimersByTime(6_000);
      }
    };
    await turns();
    expect(warn).toHaveBeenCalledTimes(1);
    isFull = false;
    await turns();
    isFull = true;
    await turns();
    expect(warn).toHaveBeenCalledTimes(2);
  });

  it.each([
    {
      silent: ['a', 'b', 'c'],
      asked: ['a', 'b', 'a'],
      title: 'spares the others a silent store once two got no answer',
    },
    {
      silent: ['a'],
      asked: ['a', 'b', 'c', 'a', 'b', 'c'],
      title: 'asks a store that is silent about one conversation for the others',
    },
  ])('$title', async ({ silent, asked }) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const kept = memoryStore();
    const saves: string[] = [];
    let names: readonly string[] = [];
    let isBack = false;
    const save: StateStore['save'] = (key, ...state) => {
      const name = names.find((known) => key.endsWith(hash('sha256', known))) ?? key;
      saves.push(name);
      return !isBack && silent.includes(name)
        ? new Promise(() => undefined)
        : kept.save(key, ...state);
    };
    const store = { ...open(kept), save, limits: { deadlineMs: 20 } };
    const compactor = createCompactor({ ...COMPACTOR, store, logger: SILENT_LOGGER });
    names = ['a', 'b', 'c'];
    const history = HISTORY.slice(0, 5);
    const begun = names.map((sessionId) => compactor.createSession({ history, sessionId }));
    const sessions = await Promise.all(begun);
    for (const at of [0, 1]) {
      vi.advanceTimersByTime(at * 6_000);
      for (const session of sessions) await session.ensureCompressionBeforeSend('request');
      for (const session of sessions)
        session.history.add({ speaker: 'human', blocks: [{ type: 'text', text: 'On.' }] });
    }
    expect(saves).toEqual(asked);
    isBack = true;
    await compactor.close();
    const states = names.map((name) => kept.load(`named-${hash('sha256', name)}`));
    expect(await Promise.all(states)).not.toContain(null);
  });

  it('warns once about a state that is too large', async () => {
    const warn = vi.fn();
    const store = { ...open(memoryStore()), limits: { maxBytes: 10 } };
    await using compactor = createCompactor({
      ...{ ...COMPACTOR, store, logger: { ...SILENT_LOGGER, warn } },
    });
    const session = await compactor.createSession({ history: HISTORY, sessionId: 'one' });
    await session.ensureCompressionBeforeSend('request');
    session.history.add({ speaker: 'human', blocks: [{ type: 'text', text: 'On.' }] });
    await session.ensureCompressionBeforeSend('request');
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]?.[1]).toMatchObject({
      error: { code: 'STORE_FAILED', message: expect.stringContaining('raise `maxBytes`') },
    });
  });

  it.each([
    // The error of Node if a name has two addresses, and nothing listens at either.
    [Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), 'ECONNREFUSED', 'start the'],
    [Object.assign(new Error('no relation'), { code: '42P01' }), 'no relation', 'POSTGRES_MIGR'],
  ])('reports why a store fails, and what to do: %s', async (thrown, reason, advice) => {
    const warn = vi.fn();
    const store = { ...memoryStore(), save: () => Promise.reject(thrown) };
    await using compactor = createCompactor({
      ...{ ...COMPACTOR, store, logger: { ...SILENT_LOGGER, warn } },
    });
    const session = await compactor.createSession({ history: HISTORY });
    await session.ensureCompressionBeforeSend('request');
    const { error } = warn.mock.calls[0]?.[1] as { readonly error: CtxfoldError };
    expect(error.code).toBe('STORE_FAILED');
    expect(error.message).toContain(`(${reason})`);
    expect(error.message).toContain(advice);
  });

  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  it.each([
    ['save returns nothing', { save: (): unknown => undefined }, 'Expected save to return'],
    ['save returns a version as text', { save: () => '1' }, 'Expected save to return'],
    ['load returns the state alone', { load: () => '{}' }, 'Expected load to return'],
    ['load returns a version as text', { load: () => ({ state: '', version: '1' }) }, 'a number'],
    ['load returns JSON as an object', { load: () => ({ state: {}, version: 1 }) }, 'a text'],
    [
      'load throws what cannot be looked at',
      { load: vi.fn<() => never>().mockRejectedValue(revoked.proxy) },
      'text',
    ],
  ])('warns about a store whose %s', async (_, own, message) => {
    const warn = vi.fn();
    const store = { ...open(memoryStore()), ...own } as StateStore;
    await using compactor = createCompactor({
      ...{ ...COMPACTOR, store, logger: { ...SILENT_LOGGER, warn } },
    });
    const session = await compactor.createSession({ history: HISTORY });
    await session.ensureCompressionBeforeSend('request');
    expect(warn.mock.calls[0]?.[1]).toMatchObject({
      error: { code: 'STORE_FAILED', message: expect.stringContaining(message) },
    });
  });

  it.each([undefined, 'one'])(
    'saves on close what a store refused before it recovered (%s)',
    async (sessionId) => {
      const kept = memoryStore();
      let isFull = false;
      const save: StateStore['save'] = (...args) =>
        isFull ? Promise.reject(new Error('no space left on device')) : kept.save(...args);
      const options = { ...COMPACTOR, store: { ...open(kept), save } };
      const session = await createCompactor(options).createSession({ history: HISTORY, sessionId });
      isFull = true;
      await session.ensureCompressionBeforeSend('request');
      isFull = false;
      const state = session.snapshot().journal;
      await session.close();
      const again = await createCompactor(options).createSession({ history: HISTORY, sessionId });
      expect(again.snapshot().journal).toEqual(state);
      expect(again.history.getAll()).toEqual(session.history.getAll());
    },
  );

  it('has the slower of two processes continue from the decisions of the faster one', async () => {
    const store = memoryStore();
    const make = async (): Promise<
      Awaited<ReturnType<ReturnType<typeof createCompactor>['createSession']>>
    > =>
      createCompactor({ ...COMPACTOR, store }).createSession({
        history: HISTORY.slice(0, 5),
        sessionId: 'shared',
      });
    const [a, b] = [await make(), await make()];
    await a.ensureCompressionBeforeSend('a');
    await b.ensureCompressionBeforeSend('b');
    a.history.addAll(HISTORY.slice(5));
    await a.ensureCompressionBeforeSend('a again');
    b.history.addAll(HISTORY.slice(5));
    await b.ensureCompressionBeforeSend('b again');
    expect(b.history.getAll()).toEqual(a.history.getAll());
    expect(findViolations(b.history.getAll())).toEqual([]);
    expect(b.snapshot().journal).toEqual(a.snapshot().journal);
  });
});

/** The operations of a store as properties, so that some can be replaced. */
function open(store: StateStore): StateStore {
  return {
    load: (key) => store.load(key),
    save: (key, state, version) => store.save(key, state, version),
    delete: (key) => store.delete(key),
  };
}
