// A connection whose thread does not answer: whether the connection alone is given up, or its thread.

import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ResidentConnection } from '../../../src/main/offload/resident-connection.js';
import { codeOf } from '../../support/faulty-pool.js';

/** A connection without answers, on a thread that was last heard at `lastHeardAt`. */
function unanswered(lastHeardAt: () => number) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => {
    port2.close();
  });
  const onStuck = vi.fn();
  const onEnd = vi.fn();
  const options = { countsTokens: false, timeoutMs: 5, lastHeardAt, onHeard: vi.fn() };
  const connection = new ResidentConnection(port1, { ...options, onStuck, onEnd });
  return { connection, onStuck, onEnd };
}

const BASE = { revision: 0, length: 0 };
const DELTA = { sequence: 1, before: BASE, after: BASE, steps: [] };

test('stops a thread that answers no connection', async () => {
  const { connection, onStuck, onEnd } = unanswered(() => -Infinity);
  const answer = codeOf(connection.receive(DELTA));
  expect(await answer).toBe('WORKER_TIMEOUT');
  expect(onStuck).toHaveBeenCalledOnce();
  expect(onEnd).toHaveBeenCalledOnce();
});

test('gives up its own connection alone if the thread answers others', async () => {
  const { connection, onStuck, onEnd } = unanswered(() => performance.now());
  const answer = codeOf(connection.receive(DELTA));
  expect(await answer).toBe('WORKER_TIMEOUT');
  expect(onStuck).not.toHaveBeenCalled();
  expect(onEnd).toHaveBeenCalledOnce();
  expect(connection.isClosed).toBe(true);
});
