// Originals can be restored in any process, and in no other conversation.

import { describe, expect, it, vi } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import type { Logger } from '../../../src/main/host/logger.js';
import type { Session } from '../../../src/main/session.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import type { StateStore } from '../../../src/main/state/state-store.js';
import { isToolResponseBlock } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { historyOf } from '../../support/notation.js';

const HISTORY = historyOf('h a:r1 t:r1 a:w2 t:w2 h');
const ORIGINAL = HISTORY.flatMap(({ blocks }) => blocks.filter(isToolResponseBlock))[0];

function open(
  store: StateStore,
  sessionId: string,
  history: readonly IContent[],
  logger: Logger = SILENT_LOGGER,
): Promise<Session> {
  const options = { offload: 'inline', tokenizer: 'estimate', preset: 'specification' } as const;
  return createCompactor({ ...options, store, logger }).createSession({ history, sessionId });
}

describe('Session.restore with a store', () => {
  it('returns an original in another process, even if that lacks the entries', async () => {
    const store = memoryStore();
    const callId = ORIGINAL?.callId ?? '';
    const session = await open(store, 'mine', HISTORY);
    await session.ensureCompressionBeforeSend('request');
    expect(session.history.length).toBeLessThan(HISTORY.length);
    expect(await session.restore(callId)).toMatchObject({
      response: ORIGINAL,
      call: HISTORY[1]?.blocks[0],
    });
    await new Promise((resolve) => setImmediate(resolve));
    const other = await open(store, 'mine', []);
    expect((await other.restore(callId)).response).toEqual(ORIGINAL);
  });

  it('returns an original to a compactor that has not opened the conversation', async () => {
    const store = memoryStore();
    const callId = ORIGINAL?.callId ?? '';
    const session = await open(store, 'mine', HISTORY);
    await session.ensureCompressionBeforeSend('request');
    await session.close();
    const other = createCompactor({ offload: 'inline', store });
    const restored = await other.restore(callId, { sessionId: 'mine' });
    expect(restored).toMatchObject({ response: ORIGINAL, sessionId: 'mine' });
    for (const scope of [
      { sessionId: 'not mine' },
      { sessionId: 'mine', removalLogDirectory: '/logs-of-another-user' },
      { acrossSessions: true },
    ] as const) {
      const code = 'NOT_IN_REMOVAL_LOG';
      await expect(other.restore(callId, scope)).rejects.toMatchObject({ code });
    }
  });

  it('returns the final result of a tool that has answered bit by bit', async () => {
    const store = memoryStore();
    const partial = { ...ORIGINAL!, result: 'so far', isComplete: false };
    const at = HISTORY.findIndex(({ speaker }) => speaker === 'tool');
    const history = HISTORY.toSpliced(at, 0, { speaker: 'tool', blocks: [partial] });
    const session = await open(store, 'mine', history);
    await session.ensureCompressionBeforeSend('request');
    await session.close();
    const other = await open(store, 'mine', []);
    expect((await other.restore(partial.callId)).response).toEqual(ORIGINAL);
  });

  it.each([
    ['no JSON', '{'],
    ['no block', '7'],
    ['another block', JSON.stringify({ ...ORIGINAL, type: 'text', text: 'so' })],
    ['the result of another call', JSON.stringify({ ...ORIGINAL, callId: 'other' })],
    ['a result that no history can hold', JSON.stringify({ ...ORIGINAL, toolName: 7 })],
  ])('refuses %s from the store', async (_, stored) => {
    const store = { ...operationsOf(memoryStore()), get: () => Promise.resolve(stored) };
    const session = await open(store, 'mine', []);
    await expect(session.restore(ORIGINAL?.callId ?? '')).rejects.toMatchObject({
      code: 'NOT_IN_REMOVAL_LOG',
    });
  });

  // Otherwise it would read the result of a tool in another user's conversation.
  it.each([
    ['another conversation', 'mine', 'not mine'],
    // UTF-8 encodes all lone surrogates the same, and composed and decomposed letters look alike.
    ['one whose id was cut within another character', 'id \ud83d', 'id \udc31'],
    ['one whose id is composed differently', 'caf\u00e9', 'cafe\u0301'],
    ['one whose id continues behind a NUL', 'mine\0', 'mine\0/../x'],
  ])('returns nothing of %s', async (_, name, other) => {
    const store = memoryStore();
    const session = await open(store, name, HISTORY);
    await session.ensureCompressionBeforeSend('request');
    await session.close();
    expect((await (await open(store, name, [])).restore(ORIGINAL?.callId ?? '')).response).toEqual(
      ORIGINAL,
    );
    const stranger = await open(store, other, []);
    await expect(stranger.restore(ORIGINAL?.callId ?? '')).rejects.toMatchObject({
      code: 'NOT_IN_REMOVAL_LOG',
    });
  });

  // PostgreSQL accepts keys of 2,704 bytes; some gateways put a signature of kilobytes into a call id.
  it('gives originals keys that every store accepts, however long a call id is', async () => {
    const store = memoryStore();
    const names: string[] = [];
    const put: StateStore['put'] = async (key, name, original) => {
      names.push(name);
      await store.put?.(key, name, original);
    };
    const callId = `call_\0${'signature'.repeat(1_000)}`;
    const renamed = HISTORY.map(({ blocks, ...entry }) => ({
      ...entry,
      blocks: blocks.map((block) => {
        if (block.type === 'tool_call' && block.id === ORIGINAL?.callId)
          return { ...block, id: callId };
        return block.type === 'tool_response' && block.callId === ORIGINAL?.callId
          ? { ...block, callId }
          : block;
      }),
    }));
    const session = await open({ ...operationsOf(store), put }, 'mine', renamed);
    await session.ensureCompressionBeforeSend('request');
    await session.close();
    expect(names).toEqual([expect.stringMatching(/^[\w-]{1,200}$/)]);
    const other = await open(store, 'mine', []);
    expect((await other.restore(callId)).response.result).toBe(ORIGINAL?.result);
  });

  it('keeps originals that were removed during an outage of the store, too', async () => {
    const store = memoryStore();
    let isGone = true;
    const save: StateStore['save'] = (...args) =>
      isGone ? Promise.reject(new Error('gone')) : store.save(...args);
    const session = await open({ ...operationsOf(store), save }, 'mine', HISTORY);
    const clock = vi.spyOn(performance, 'now');
    await session.ensureCompressionBeforeSend('request');
    isGone = false;
    clock.mockReturnValue(performance.now() + 60_000);
    await session.ensureCompressionBeforeSend('request');
    clock.mockRestore();
    await session.close();
    const other = await open(store, 'mine', []);
    expect((await other.restore(ORIGINAL?.callId ?? '')).response).toEqual(ORIGINAL);
  });

  // On a nearly full disk, the state may fit although the results do not.
  it('retries originals that the store refused, and reports it once', async () => {
    const store = memoryStore();
    let isFull = true;
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const put: StateStore['put'] = async (...args) => {
      if (isFull) throw full;
      await store.put?.(...args);
    };
    const warn = vi.fn();
    const logger = { ...SILENT_LOGGER, warn };
    const session = await open({ ...operationsOf(store), put }, 'mine', HISTORY, logger);
    const clock = vi.spyOn(performance, 'now');
    for (let turn = 1; turn <= 3; turn += 1) {
      isFull = turn < 3;
      clock.mockReturnValue(turn * 60_000);
      await session.ensureCompressionBeforeSend('request');
      await new Promise((resolve) => setImmediate(resolve));
    }
    clock.mockRestore();
    await session.close();
    expect(warn.mock.calls).toEqual([
      [
        expect.stringContaining('not kept for other processes'),
        {
          error: expect.objectContaining({
            code: 'STORE_FAILED',
            message: expect.stringContaining('free some space') as string,
            cause: full,
          }) as Error,
        },
      ],
    ]);
    const other = await open(store, 'mine', []);
    expect((await other.restore(ORIGINAL?.callId ?? '')).response).toEqual(ORIGINAL);
  });

  // A process may not open a file for each of them at once.
  it('stores a few at a time', async () => {
    const store = memoryStore();
    const pairs = Array.from({ length: 100 }, (_, at) => `a:r${at}(f.ts) t:r${at}`);
    const history = historyOf(`h ${pairs.join(' ')} a:w100(f.ts) t:w100 h`);
    let [unfinished, most, puts] = [0, 0, 0];
    const put: StateStore['put'] = async (...args) => {
      unfinished += 1;
      most = Math.max(most, unfinished);
      await new Promise((resolve) => setImmediate(resolve));
      await store.put?.(...args);
      unfinished -= 1;
      puts += 1;
    };
    const session = await open({ ...operationsOf(store), put }, 'mine', history);
    await session.ensureCompressionBeforeSend('request');
    await session.close();
    expect(puts).toBe(100);
    expect(most).toBeLessThan(20);
  });
});

/** The operations of a store as properties, so that some can be replaced. */
function operationsOf(store: StateStore): StateStore {
  return {
    load: (key) => store.load(key),
    save: (key, state, version) => store.save(key, state, version),
    delete: (key) => store.delete(key),
    put: async (key, name, original) => store.put?.(key, name, original),
    get: async (key, name) => (await store.get?.(key, name)) ?? null,
  };
}
