// A session that is closed while a turn waits for a model.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { SummarizerResponse } from '../../src/main/summarizer/summarizer.js';
import { humanText } from '../../src/shared/content.js';
import { scriptedSummarizer } from '../support/scripted-summarizer.js';
import { outcomeOf } from '../support/session-bench.js';
import { openCompactor } from '../support/open-compactor.js';

// The time that a close gives a preflight has passed at once.
vi.mock('../../src/main/waiting/abortable.js', async (load) => ({
  ...(await load<object>()),
  settledWithin: () => Promise.resolve(),
}));

it('aborts the summary that a turn waits for when its time is over', async () => {
  const summarizer = scriptedSummarizer(() => new Promise<SummarizerResponse>(() => undefined));
  const compactor = openCompactor({
    preset: 'specification',
    contextLimit: 20_000,
    settings: { 'compression.strategy': 'one-shot' },
    summarizer,
  });
  const history = Array.from({ length: 10 }, (_, at) =>
    humanText(`${at} ${'lorem '.repeat(1_900)}`),
  );
  const session = await compactor.createSession({ history });
  const turn = outcomeOf(session.ensureCompressionBeforeSend('p1'));
  while (summarizer.requests.length === 0) await nextTurn();
  expect(summarizer.requests[0]?.signal.aborted).toBe(false);
  await session.close();
  expect(await turn).toBe('CLOSED');
  expect(summarizer.requests[0]?.signal.aborted).toBe(true);
  expect(session.history.getAll()).toEqual(history);
});
