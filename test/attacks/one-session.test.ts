// A conversation has one session, however often its adapter is created and whatever the host's callbacks do: a handler that
// creates an adapter per request must not be locked out by itself, and a callback that throws must not hold the lock.

import { getEventListeners } from 'node:events';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { AdapterOptions } from '../../src/adapters/request/adapter-options.js';
import { createMessageCompactor } from '../../src/adapters/conversation/message-compactor.js';
import type { MessageCompactor } from '../../src/adapters/conversation/message-compactor.js';
import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import { SILENT_LOGGER } from '../../src/main/host/logger.js';
import type { Session } from '../../src/main/session.js';
import { historyOf } from '../support/notation.js';
import { assistant, PLAIN_MESSAGE_FORMAT, user } from '../support/plain-message-format.js';
import type { PlainMessage } from '../support/plain-message-format.js';
import { temporaryPath } from '../main/removal-log/recording.js';

let compactor: Compactor;

beforeEach(() => {
  compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate', workspaceRoot: '/w' });
});

afterEach(() => compactor.close());

function adapter(options: AdapterOptions = {}): MessageCompactor<PlainMessage> {
  return createMessageCompactor(compactor, PLAIN_MESSAGE_FORMAT, { onError: 'throw', ...options });
}

const first = [user('go')];
const second = [...first, assistant('done'), user('on')];
const third = [...second, assistant('done'), user('on')];

describe('an adapter that is made anew for each request', () => {
  it.each([{ conversationId: 'chat' }, {}])(
    'goes on in one session with other functions among its options, called with %j',
    async (call) => {
      const directory = path.dirname(temporaryPath());
      const opened: Session[] = [];
      const requests: string[] = [];
      for (const messages of [first, second, third]) {
        const compact = adapter({
          onSession: (session) => opened.push(session),
          activeTodos: () => [],
          logger: { ...SILENT_LOGGER, debug: () => requests.push(`request ${messages.length}`) },
          removalLogDirectory: directory,
        });
        expect(await compact(messages, call)).toEqual(messages);
      }
      expect(opened).toHaveLength(1);
      expect(compactor.stats().sessions).toBe(1);
      expect(requests).toEqual(['request 1']);
    },
  );

  it('goes on under other options in a session of the same name, also at the same time', async () => {
    const call = { conversationId: 'chat' };
    const removalLogDirectory = path.dirname(temporaryPath());
    const results = await Promise.all(
      [first, second, third].map((messages, at) =>
        adapter({ minReclaimTokens: at, removalLogDirectory })(messages, call),
      ),
    );
    expect(results).toEqual([first, second, third]);
    expect(await adapter({ minReclaimTokens: 0, removalLogDirectory })(third, call)).toEqual(third);
    await expect.poll(() => compactor.stats().sessions).toBe(1);
  });

  it('takes a name up again while its former session still closes', async () => {
    const removalLogDirectory = path.dirname(temporaryPath());
    const compact = adapter({ maxConversations: 1, removalLogDirectory });
    for (const messages of [first, second, third]) {
      for (const conversationId of ['a', 'b']) {
        expect(await compact(messages, { conversationId })).toEqual(messages);
      }
    }
  });
});

describe('callbacks of a host', () => {
  it('leave nothing open when onSession throws, and fail the call with a code', async () => {
    const removalLogDirectory = path.dirname(temporaryPath());
    const onSession = vi.fn(() => {
      throw new Error('not today');
    });
    const compact = adapter({ onSession, removalLogDirectory });
    await expect(compact(first, { conversationId: 'chat' })).rejects.toMatchObject({
      code: 'CALLBACK_FAILED',
      message: expect.stringContaining('not today') as string,
    });
    expect(compactor.stats().sessions).toBe(0);
    onSession.mockImplementation(() => undefined as never);
    expect(await compact(first, { conversationId: 'chat' })).toEqual(first);
  });

  it('end nothing when onSession or a logger rejects, or a logger throws', async () => {
    const error = vi.fn();
    const reject = (): never => Promise.reject(new Error('late')) as never;
    expect(
      await adapter({ onSession: reject, logger: { ...SILENT_LOGGER, error } })(first),
    ).toEqual(first);
    await expect.poll(() => error.mock.calls).toHaveLength(1);
    const fail = (): never => {
      throw new Error('no log');
    };
    for (const log of [reject, fail]) {
      const logger = { debug: log, warn: log, error: log };
      expect(await adapter({ logger })([user('other')])).toEqual([user('other')]);
    }
  });

  it.each([
    ['logger', 'console'],
    ['logger', { debug: () => 0 }],
    ['logger', null],
    ['activeTodos', []],
    ['onSession', {}],
  ])('are refused when %s is %j', (name, value) => {
    expect(() => adapter({ [name]: value })).toThrow(RangeError);
    expect(() => adapter({ [name]: value })).toThrow(name);
  });
});

describe('any number of windows under one signal', () => {
  it.each(['inline', 'snapshot', 'resident'] as const)(
    'add few listeners to it, and leave none, with work %s',
    async (offload) => {
      await using many = createCompactor({ offload, workspaceRoot: '/w', threads: 1 });
      const controller = new AbortController();
      const { signal } = controller;
      const warnings: string[] = [];
      const note = ({ name }: Error): void => void warnings.push(name);
      process.on('warning', note);
      const history = historyOf('h a:r1 t:r1 a:w2 t:w2');
      await Promise.all(
        Array.from({ length: 40 }, async () => {
          const session = await many.createSession({ history });
          const window = session.ensureCompressionBeforeSend('p', 0, 'test', { signal });
          expect(getEventListeners(signal, 'abort').length).toBeLessThan(10);
          await window;
        }),
      );
      await expect.poll(() => getEventListeners(signal, 'abort')).toHaveLength(0);
      process.off('warning', note);
      expect(warnings).not.toContain('MaxListenersExceededWarning');
    },
  );
});
