// The key by which a state recognizes what a session has sent.

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { HistoryService } from '../../../src/main/history-service.js';
import {
  matchesKey,
  lengthOfKey,
  PresentEntries,
  presentEntriesOf,
} from '../../../src/main/state/present-entries.js';
import { humanText } from '../../../src/shared/content.js';
import { NO_EDITS } from '../../../src/shared/density.js';
import { historyOf } from '../../support/notation.js';

/** Never change it: stored states have it. */
const KEY = 20_399_479_472;

describe('matchesKey', () => {
  it('recognizes entries by a key from another process', () => {
    const entries = historyOf('h a:r1 t:r1 a');
    expect(lengthOfKey(KEY)).toBe(entries.length);
    expect(matchesKey(entries, KEY)).toBe(true);
    expect(matchesKey(entries.slice(0, -1), KEY)).toBe(false);
    expect(matchesKey(entries.toReversed(), KEY)).toBe(false);
  });
});

describe('PresentEntries, of the key', () => {
  it('is made in turns of the event loop when a session ends that no store keeps', async () => {
    await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
    const history = Array.from({ length: 640 }, (_, at) => humanText(`entry ${at}`));
    const session = await compactor.createSession({ history });
    await session.history.applyDensityResult({ ...NO_EDITS, removals: [0] });
    const slices: number[] = [];
    const { hashInSlices } = PresentEntries.prototype;
    vi.spyOn(PresentEntries.prototype, 'hashInSlices').mockImplementation(function* (
      this: PresentEntries,
    ) {
      const made = [...hashInSlices.call(this)];
      slices.push(made.length);
      yield* made;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    await session.close();
    // The second call is that of the key itself.
    expect(slices).toEqual([9, 0]);
  });

  it('hashes a long history in many slices, whatever is edited or added in between', async () => {
    const history = new HistoryService();
    history.addAll(Array.from({ length: 1_000 }, (_, at) => humanText(`message ${at}`)));
    await history.applyDensityResult({ ...NO_EDITS, removals: [500] });
    const slices = presentEntriesOf(history).hashInSlices();
    let yields = 0;
    for (; slices.next().done !== true; yields += 1) {
      const replacements = new Map([[yields, humanText(`edit ${yields}`)]]);
      if (yields === 3 || yields === 9)
        await history.applyDensityResult({ ...NO_EDITS, replacements });
      if (yields === 12) history.add(humanText('and now?'));
    }
    expect(yields).toBeGreaterThan(15);
    expect(matchesKey(history.getRawHistory(), presentEntriesOf(history).key ?? 0)).toBe(true);
  });

  it('has nothing to do if no edit has landed', () => {
    const history = new HistoryService();
    history.add(humanText('hello'));
    expect([...presentEntriesOf(history).hashInSlices()]).toEqual([]);
    expect(presentEntriesOf(history).key).toBeUndefined();
  });
});
