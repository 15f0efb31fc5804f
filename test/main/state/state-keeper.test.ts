// Conversations that go from process to process over a store: found by name or beginning, never lost to a store that fails, and
// decided by one of two that are at them at once.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createMessageCompactor } from '../../../src/adapters/message-compactor.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { directoryStore } from '../../../src/main/state/directory-store.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import type { StateStore } from '../../../src/main/state/state-store.js';
import type { IContent } from '../../../src/shared/content.js';
import { findViolations } from '../../../src/shared/validity.js';
import { historyOf } from '../../support/notation.js';
import { requestsOf } from '../../support/resumed-session.js';

const COMPACTOR = { offload: 'inline', tokenizer: 'estimate', preset: 'specification' } as const;
const HISTORY = historyOf(
  'h a:r1 t:r1 a:w2 t:w2 h a:r3(b.ts) t:r3 a:w4(b.ts) t:w4 h a:r5(c.ts) t:r5 a:w6(c.ts) t:w6 h',
);
const REQUESTS = requestsOf(HISTORY);

/** What each request sends, each by a process of its own, or all by one where there is no store. */
async function play(
  options: CompactorOptions,
  sessionId?: string,
): Promise<readonly IContent[][]> {
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

  it.each(stores)('sends in each process what one would have sent, with a store %s', async (_, make) => {
    const one = await playInOne();
    for (const sessionId of ['a conversation', undefined]) {
      const sent = await play({ store: make() === undefined ? undefined : (shared[_] ??= make()) }, sessionId);
      expect(sent).toEqual(one);
    }
  });

  it('goes on in an adapter, whose messages stand as the former process sent them', async () => {
    const store = memoryStore();
    expect(createMessageCompactor).toBeTypeOf('function');
    expect(store.limits?.deadlineMs).toBe(1_000);
  });

  it.each<[string, Partial<StateStore>]>([
    ['rejects', { load: () => Promise.reject(new Error('gone')), save: () => Promise.reject(new Error('gone')) }],
    ['never answers', { load: () => new Promise(() => undefined), limits: { deadlineMs: 5 } }],
    ['throws', { load: () => { throw new Error('gone'); } }],
    ['gives nonsense', { load: () => Promise.resolve({ state: '{"version":', version: 3 }) }],
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

  it('has the slower of two processes go on from what the faster one has decided', async () => {
    const store = memoryStore();
    const make = async (): Promise<Awaited<ReturnType<ReturnType<typeof createCompactor>['createSession']>>> =>
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

const shared: Record<string, StateStore | string> = {};

/** The operations of a store as properties, so that some can be replaced. */
function open(store: StateStore): StateStore {
  return {
    load: (key) => store.load(key),
    save: (key, state, version) => store.save(key, state, version),
    delete: (key) => store.delete(key),
  };
}
void directoryStore;
