// How far a history is cut to fit the window, where cutting further would remove what the model has not seen.

import { expect, it } from 'vitest';

import type { IContent } from '../../../src/shared/content.js';
import { NO_EDITS } from '../../../src/shared/density.js';
import { describeHistory, historyOf } from '../../support/notation.js';
import { openSession, strategyOf } from '../../support/session-bench.js';

const isSummarized = (entry: IContent): boolean => JSON.stringify(entry).includes('success');

it.each([
  // Down to the lower mark, so that the next calls need no cut.
  [330, 200, 'r1', 830],
  // The first result does not save enough for that, but the window has room for the second.
  [200, 310, 'r1', 940],
  // It saves too little for the window as well.
  [100, 500, 'r2', 730],
])(
  'with %i tokens that the model has seen and %i that it has not, summarizes %s',
  async (seen, unseen, summarized, tokensAfter) => {
    const entries = historyOf('h:1 a:r1 t:r1 a:r2 t:r2');
    const weights = [600, 10, seen, 10, unseen];
    const weigh = (entry: IContent): number =>
      isSummarized(entry) ? 10 : (weights[entries.indexOf(entry)] ?? 0);
    const session = openSession({
      entries,
      countEntries: (contents) => Promise.resolve(contents.map(weigh)),
      strategy: strategyOf(async ({ history }) => history, null),
    });
    await session.enforceContextWindow('p1');
    await session.history.waitForTokenUpdates();
    const left = session.history.getAll();
    expect(left.map(isSummarized).indexOf(true)).toBe(summarized === 'r1' ? 2 : 4);
    expect(left.filter(isSummarized)).toHaveLength(1);
    expect(session.history.getTotalTokens()).toBe(tokensAfter);
  },
);

it('starts again when the host edits the history while it is measured', async () => {
  const entries = historyOf('h:1 a:r1 t:r1 a:r2 t:r2');
  const weights = [600, 10, 330, 10, 200];
  let isEdited = false;
  const session = openSession({
    entries,
    countEntries: (contents) => {
      if (!isEdited && contents.some(isSummarized)) {
        isEdited = true;
        void session.history.applyDensityResult({ ...NO_EDITS, removals: [1, 2] });
      }
      const weigh = (entry: IContent): number => weights[entries.indexOf(entry)] ?? 10;
      return Promise.resolve(contents.map(weigh));
    },
    strategy: strategyOf(async ({ history }) => history, null),
  });
  expect(await session.enforceContextWindow('p1')).toBeNull();
  expect(isEdited).toBe(true);
  expect(session.history.getAll()).toEqual(entries.toSpliced(1, 2));
});

it.each([
  // The first call goes first.
  ['strip-after-first-edit', 'h:1 a:r2 t:r2 a:r3 t:r3'],
  ['keep', 'h:1 a:*s1,r1 t:r1 a:r3 t:r3'],
] as const)('drops the oldest calls, with %s', async (reasoning, left) => {
  const entries = historyOf('h:1 a:*s1,r1 t:r1 a:r2 t:r2 a:r3 t:r3');
  const session = openSession({
    entries,
    contextLimit: 60,
    timing: { edits: 'at-birth', reasoning },
    strategy: strategyOf(async ({ history }) => history, null),
  });
  await session.enforceContextWindow('p1');
  const calls = session.history.getAll().filter((entry) => !isSummarized(entry));
  expect(describeHistory(calls)).toBe(left);
});
