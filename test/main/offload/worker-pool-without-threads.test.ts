// A runtime with Node's modules but without threads.

import { expect, test, vi } from 'vitest';
import { createCompactor } from '../../../src/index.js';

// As in Cloudflare Workers: starts nothing, and emits no event.
vi.mock(import('node:worker_threads'), async (original) => {
  class StandIn {
    readonly threadId = 0;
    readonly on = (): void => undefined;
    readonly ref = (): void => undefined;
    readonly unref = (): void => undefined;
    readonly terminate = (): Promise<number> => Promise.resolve(0);
  }
  const modules = await original();
  return { ...modules, Worker: StandIn as unknown as typeof modules.Worker };
});

test('where threads never start, the work runs at once on the calling thread', async () => {
  const warn = vi.fn();
  const logger = { debug: () => undefined, warn, error: warn };
  const compactor = createCompactor({ logger });
  const session = await compactor.createSession();
  session.history.add({ speaker: 'human', blocks: [{ type: 'text', text: 'Fix the test.' }] });
  await session.ensureCompressionBeforeSend('turn-1');
  expect(session.history.getCurated()).toHaveLength(1);
  const [message] = warn.mock.calls.flat() as readonly unknown[];
  expect(message).toContain("has no threads, so choose offload: 'inline'");
  await compactor.close();
});
