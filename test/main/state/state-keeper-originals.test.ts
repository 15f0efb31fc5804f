// Originals come back in any process, and to no other conversation.

import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
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
): Promise<Session> {
  const options = { offload: 'inline', tokenizer: 'estimate', preset: 'specification' } as const;
  return createCompactor({ ...options, store }).createSession({ history, sessionId });
}

describe('Session.restore with a store', () => {
  it('gives an original back in another process, which need not have the entries', async () => {
    const store = memoryStore();
    const callId = ORIGINAL?.callId ?? '';
    const session = await open(store, 'mine', HISTORY);
    await session.ensureCompressionBeforeSend('request');
    expect(session.history.length).toBeLessThan(HISTORY.length);
    expect((await session.restore(callId)).response).toEqual(ORIGINAL);
    await new Promise((resolve) => setImmediate(resolve));
    const other = await open(store, 'mine', []);
    expect((await other.restore(callId)).response).toEqual(ORIGINAL);
  });

  // It would have read what a tool had answered in somebody else's conversation.
  it('gives nothing back that another conversation has', async () => {
    const store = memoryStore();
    const session = await open(store, 'mine', HISTORY);
    await session.ensureCompressionBeforeSend('request');
    await new Promise((resolve) => setImmediate(resolve));
    const stranger = await open(store, 'not mine', []);
    await expect(stranger.restore(ORIGINAL?.callId ?? '')).rejects.toMatchObject({
      code: 'NOT_IN_REMOVAL_LOG',
    });
  });
});
