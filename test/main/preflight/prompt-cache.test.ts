// What a session knows of the prompt cache: which prefix was sent to which model, and where reasoning is stale.

import { describe, expect, it } from 'vitest';

import { HistoryService } from '../../../src/main/history-service.js';
import { CacheTerms } from '../../../src/main/models/session-model.js';
import { SentHistory } from '../../../src/main/preflight/prompt-cache.js';
import { humanText } from '../../../src/shared/content.js';
import { historyOf } from '../../support/notation.js';

const LIFETIME_MS = 300_000;

interface Sent {
  readonly history: HistoryService;
  readonly sent: SentHistory;
  readonly pass: (ms: number) => void;
}

/** Four entries for a model without a name, which were sent before if `wasSentBefore` says so. */
function sentHistory(wasSentBefore?: boolean): Sent {
  let nowMs = 0;
  const history = new HistoryService();
  history.addAll(historyOf('h a:r1 t:r1 a'));
  const cache = new CacheTerms(LIFETIME_MS);
  const sent = new SentHistory({ history, wasSentBefore }, cache, () => nowMs);
  return { history, sent, pass: (ms) => (nowMs += ms) };
}

describe('SentHistory', () => {
  it('knows nothing of an unsent history, and all of one that was sent before', () => {
    const { sent: unsent } = sentHistory();
    expect([unsent.intactEntries, unsent.isExpired, unsent.isCacheCold]).toEqual([0, true, true]);
    const { sent } = sentHistory(true);
    expect([sent.intactEntries, sent.isExpired, sent.isCacheCold]).toEqual([4, false, false]);
  });

  it('keeps a cache for each model, and counts earlier requests as those of the first named one', () => {
    const { history, sent, pass } = sentHistory(true);
    const isExpiredFor = (modelName: string): boolean => {
      history.nameModel(modelName);
      return sent.isExpired;
    };
    expect(isExpiredFor('one')).toBe(false);
    sent.endPreflight();
    expect(isExpiredFor('two')).toBe(true);
    pass(LIFETIME_MS - 1);
    sent.endPreflight();
    expect([isExpiredFor('one'), isExpiredFor('two')]).toEqual([false, false]);
    pass(1);
    expect([isExpiredFor('one'), isExpiredFor('two')]).toEqual([true, false]);
    sent.startOver();
    expect([isExpiredFor('two'), sent.intactEntries, sent.idleMs]).toEqual([true, 0, Infinity]);
  });

  it('knows from where on edits have left reasoning', () => {
    const { sent } = sentHistory(true);
    const noted: number[] = [];
    for (const [intactEntries, leavesReasoning] of [
      // Behind everything that was sent; without reasoning; the first that leaves some; and two that may move it.
      ...([
        [4, true],
        [3, false],
        [2, true],
      ] as const),
      ...([
        [3, true],
        [1, false],
      ] as const),
    ]) {
      sent.noteEdit(intactEntries, leavesReasoning);
      noted.push(sent.staleReasoningFrom);
    }
    expect(noted).toEqual([Infinity, Infinity, 2, 2, 1]);
    expect(sent.memory).toMatchObject({ intactEntries: 1, staleReasoningFrom: 1 });
    expect(sentHistory(true).sent.memory).not.toHaveProperty('staleReasoningFrom');
  });

  it('counts what an edit has removed only in the history that it has edited', () => {
    const { history, sent } = sentHistory(true);
    const { revision } = history;
    sent.noteReclaimed(7, revision);
    history.clear();
    sent.noteReclaimed(5, revision);
    expect(sent.reclaimedTokens).toBe(7);
  });

  it('counts the cache as cold if the request was too short for it', () => {
    const { sent } = sentHistory(true);
    sent.endPreflight(false);
    expect([sent.isCacheCold, sent.isExpired]).toEqual([true, false]);
    expect(sent.memory.isCached).toBe(false);
  });

  it('counts what an answer follows as sent', () => {
    const { history, sent, pass } = sentHistory(true);
    history.addAll(historyOf('h a:r2 t:r2 a a'));
    pass(LIFETIME_MS);
    sent.noteOtherCalls();
    expect([sent.intactEntries, sent.isCacheCold]).toEqual([7, true]);
    history.add(humanText('more'));
    const metadata = { timestamp: Date.now() };
    history.add({ ...historyOf('a')[0]!, metadata });
    sent.noteOtherCalls();
    expect([sent.intactEntries, sent.isCacheCold, sent.isExpired]).toEqual([10, false, false]);
    sent.noteEdit(2, false);
    history.addAll(historyOf('h a'));
    sent.noteOtherCalls();
    expect(sent.intactEntries).toBe(2);
  });
});
