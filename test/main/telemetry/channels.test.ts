import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { failureCode, publish } from '../../../src/main/telemetry/channels.js';
import type { PassMessage } from '../../../src/main/telemetry/channels.js';
import { WorkerPoolError } from '../../../src/shared/errors.js';
import { hear } from '../../support/heard-messages.js';

const PASS: PassMessage = {
  sessionId: 's',
  task: 'optimize',
  ranOn: 'snapshot',
  entries: 3,
  queueMs: 1,
  runMs: 2,
  transferMs: 3,
  mainThreadMs: 0.5,
  bytesSent: 100,
};

describe.each([
  'ctxfold:pass',
  'ctxfold:fallback',
  'ctxfold:compaction',
  'ctxfold:preflight',
  'ctxfold:cache-miss',
] as const)('the channel %s', (name) => {
  const send = (build: () => object): void => {
    publish(name, build as never);
  };

  it('passes on the built message', () => {
    const heard = hear(name);
    const message = { sessionId: 's' };
    send(() => message);
    expect(heard).toEqual([message]);
    expect(heard[0]).toBe(message);
  });

  it('builds nothing without listeners', () => {
    const build = vi.fn(() => ({}));
    send(build);
    const listener = (): void => {};
    subscribe(name, listener);
    send(build);
    unsubscribe(name, listener);
    send(build);
    expect(build).toHaveBeenCalledTimes(1);
  });

  it('builds one message for all listeners', () => {
    const [first, second] = [hear(name), hear(name)];
    send(() => ({}));
    expect(first[0]).toBe(second[0]);
  });
});

describe('publish', () => {
  it('survives a listener that throws, as do the other listeners; Node raises the error afterwards', async () => {
    const bug = new Error('a bug of a listener');
    const raised = uncaughtException();
    const broken = (): void => {
      throw bug;
    };
    subscribe('ctxfold:pass', broken);
    onTestFinished(() => void unsubscribe('ctxfold:pass', broken));
    const heard = hear('ctxfold:pass');
    publish('ctxfold:pass', () => PASS);
    expect(heard).toEqual([PASS]);
    expect(await raised).toBe(bug);
  });
});

/** The next uncaught exception, which the test runner does not see. */
function uncaughtException(): Promise<unknown> {
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const listener of listeners) process.on('uncaughtException', listener);
  });
  return new Promise((resolve) => process.once('uncaughtException', resolve));
}

describe('failureCode', () => {
  it('is the code of an error of ours', () => {
    expect(failureCode(new WorkerPoolError('m', 'WORKER_TIMEOUT'))).toBe('WORKER_TIMEOUT');
  });

  it.each([
    ['an error without a code', new Error('secret')],
    ['a foreign code', Object.assign(new Error('m'), { code: 'secret' })],
    ['no error', 'secret'],
    ['an object that is not an error', { code: 'WORKER_TIMEOUT' }],
    ['nothing', undefined],
  ])('is UNKNOWN for %s', (_, thrown) => {
    expect(failureCode(thrown)).toBe('UNKNOWN');
  });
});
