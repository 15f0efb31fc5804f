// A failure in the preflight reaches the caller, and completed steps stay in effect.

import { describe, expect, it, vi } from 'vitest';

import { createCompactor } from '../../src/main/compactor.js';
import { InlineOffload } from '../../src/main/offload/inline.js';
import { humanText } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { ACTION } from '../../src/shared/density/rules/marks.js';
import { CompressionExecutionError } from '../../src/shared/errors.js';
import { historyOf } from '../support/notation.js';
import { scriptedSummarizer } from '../support/scripted-summarizer.js';
import {
  entries,
  entriesOf,
  openSession,
  outcomeOf,
  strategyOf,
} from '../support/session-bench.js';

/** The row of a plan that drops a block. */
function dropped(entry: number, block: number): readonly number[] {
  return [entry, block, ACTION.drop, 0, -1, -1];
}

describe('ensureCompressionBeforeSend', () => {
  it('rejects with the error of the pass, and does nothing more', async () => {
    const compress = vi.fn(async () => []);
    const offload = new InlineOffload();
    vi.spyOn(offload, 'optimize').mockRejectedValue(new Error('broken pass'));
    const strategy = strategyOf(compress);
    const parts = { strategy, offload, contextLimit: 20, entries: historyOf('h:1 h:2 h:3') };
    const session = openSession(parts);
    await expect(session.ensureCompressionBeforeSend('p1')).rejects.toThrow('broken pass');
    expect(compress).not.toHaveBeenCalled();
    expect(entriesOf(session)).toBe('h:1 h:2 h:3');
  });

  it.each([
    ['DENSITY_CONFLICT', [dropped(1, 0), dropped(2, 0), dropped(1, 0), dropped(1, 1)]],
    ['DENSITY_DUPLICATE_INDEX', [dropped(2, 0), dropped(3, 0), dropped(2, 0)]],
  ])('rejects with %s when a result is invalid', async (code, rows) => {
    const offload = new InlineOffload();
    vi.spyOn(offload, 'optimize').mockResolvedValue({ plan: Int32Array.from(rows.flat()) });
    const session = openSession({ offload, entries: historyOf('h a:one,two a:three a:four') });
    const before = entriesOf(session);
    const pruned = vi.fn();
    session.on('pruned', pruned);
    expect(await outcomeOf(session.ensureCompressionBeforeSend('p1'))).toBe(code);
    expect(entriesOf(session)).toBe(before);
    // An edit that the history has refused must not be reported as one that has landed.
    expect(pruned).not.toHaveBeenCalled();
  });

  it('rejects when counting fails after an edit, which stays in place and is reported', async () => {
    const countEntries = vi
      .fn((contents: readonly IContent[]) => Promise.resolve(contents.map(() => 10)))
      .mockImplementationOnce((contents) => Promise.resolve(contents.map(() => 10)))
      .mockImplementationOnce(() => Promise.reject(new Error('no encoding')));
    const given = historyOf('h:see+@a.ts h:@a.ts');
    const session = openSession({ countEntries, entries: given });
    const optimized = vi.fn();
    session.on('pruned', optimized);
    expect(await outcomeOf(session.ensureCompressionBeforeSend('p1'))).toBe('TOKEN_COUNT_FAILED');
    expect(session.history.getRawHistory()[0]).toEqual(humanText('see\n'));
    expect(optimized).toHaveBeenCalledOnce();
    expect(await session.ensureCompressionBeforeSend('p2')).toMatchObject({ totalTokens: 20 });
  });

  it('rejects with the error of the strategy, and tries no other one', async () => {
    const strategy = strategyOf(() => Promise.reject(new Error('no result')));
    const session = openSession({ strategy, contextLimit: 100, entries: entries(9) });
    const compressed = vi.fn();
    session.on('compressed', compressed);
    await expect(session.ensureCompressionBeforeSend('p1')).rejects.toThrow('no result');
    expect(compressed).not.toHaveBeenCalled();
    expect(session.history.getAll()).toEqual(entries(9));
  });

  it('compresses a new history, although that did not help the one before it', async () => {
    const strategy = strategyOf(async ({ history }) => history.slice(1));
    const session = openSession({ strategy, entries: entries(90) });
    const send = async (): Promise<unknown> =>
      (await session.ensureCompressionBeforeSend('p1')).compressed;
    expect(await send()).toMatchObject({ outcome: 'applied', tokensAfter: 890 });
    session.history.clear();
    session.history.addAll(entries(90));
    expect(await send()).toMatchObject({ outcome: 'applied', tokensAfter: 890 });
  });

  it('compresses once if that does not help, and again after the history has grown', async () => {
    const compress = vi.fn(async ({ history }: { readonly history: readonly IContent[] }) =>
      history.slice(1),
    );
    const session = openSession({ strategy: strategyOf(compress), entries: entries(90) });
    const send = async (): Promise<unknown> =>
      (await session.ensureCompressionBeforeSend('p1')).compressed;
    expect(await send()).toMatchObject({ outcome: 'applied', tokensAfter: 890 });
    expect(await send()).toMatchObject({ outcome: 'held', reason: 'no-growth' });
    session.history.addAll(entries(4));
    expect(await send()).toMatchObject({ outcome: 'held', reason: 'no-growth' });
    session.history.add(humanText('one more'));
    expect(await send()).toMatchObject({ outcome: 'applied' });
    expect(compress).toHaveBeenCalledTimes(2);
  });
});

describe('performCompression without an answer of the model', () => {
  const history = Array.from({ length: 20 }, () => humanText('word '.repeat(40)));
  const options = {
    offload: 'inline',
    tokenizer: 'estimate',
    contextLimit: 1_000,
    summarizer: scriptedSummarizer(() => Promise.reject(new Error('busy'))),
  } as const;
  const settings = { 'compression.strategy': 'one-shot' } as const;

  it('rejects, and leaves the history as it is', async () => {
    await using compactor = createCompactor({ ...options, settings });
    const session = await compactor.createSession({ history });
    await expect(session.performCompression('p1')).rejects.toThrow(CompressionExecutionError);
    expect(session.history.getAll()).toEqual(history);
  });

  it('truncates instead if the settings say so, and reports whose failure it was', async () => {
    const fallback = { ...settings, 'compression.fallbackToTruncation': true };
    await using compactor = createCompactor({ ...options, settings: fallback });
    const session = await compactor.createSession({ history });
    expect(await session.performCompression('p1')).toMatchObject({
      strategy: 'top-down-truncation',
      outcome: 'applied',
      fallbackFrom: { strategy: 'one-shot', error: expect.any(CompressionExecutionError) },
      llmCallMade: false,
    });
    expect(session.history.getTotalTokens()).toBeLessThanOrEqual(510);
  });
});
