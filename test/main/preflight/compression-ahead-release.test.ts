// A summary made in the background watches the history while it is made, and no longer: a watcher would hold all its entries.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { HistoryService } from '../../../src/main/history-service.js';
import { humanText } from '../../../src/shared/content.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';

it('leaves no watcher behind a summary that has landed', async () => {
  const watch = Reflect.get<HistoryService, 'watch'>(HistoryService.prototype, 'watch');
  let watching = 0;
  const spy = vi.spyOn(HistoryService.prototype, 'watch');
  onTestFinished(() => {
    spy.mockRestore();
  });
  spy.mockImplementation(function (this: HistoryService, watcher) {
    const unwatch = watch.call(this, watcher);
    watching += 1;
    return () => {
      watching -= 1;
      unwatch();
    };
  });
  await using compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    contextLimit: 4_000,
    settings: { 'compression.strategy': 'one-shot', 'compression.threshold': 0.8 },
    summarizer: scriptedSummarizer(snapshot('short')),
  });
  const session = await compactor.createSession();
  const before = watching;
  let landed = 0;
  for (let at = 0; at < 40; at += 1) {
    session.history.add(humanText(`${at} ${'word '.repeat(300)}`));
    const { compressed } = await session.ensureCompressionBeforeSend(`p${at}`);
    if (compressed?.isAhead === true) landed += 1;
    for (let turns = 0; turns < 20; turns += 1) await nextTurn();
  }
  expect(landed).toBeGreaterThan(2);
  expect(watching - before).toBeLessThanOrEqual(1);
});
