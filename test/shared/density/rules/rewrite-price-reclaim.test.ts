// When stale results are removed: from which place on the reclaimed tokens are worth rewriting everything behind it.

import { describe, expect, it } from 'vitest';
import { HistoryIndex } from '../../../../src/shared/density/index/history-index.js';
import { scopeOfPass } from '../../../../src/shared/density/plan/optimize.js';
import { ACTION } from '../../../../src/shared/density/rules/marks.js';
import { WORKING_SET_REASON } from '../../../../src/shared/density/rules/judge-working-set.js';
import { DEFAULT_WORKING_SET } from '../../../../src/shared/density/rules/working-set-rules.js';
import type { WorkingSetRules } from '../../../../src/shared/density/rules/working-set-rules.js';
import { reclaimOf } from '../../../../src/shared/density/rules/rewrite-price.js';
import type { Reclaim } from '../../../../src/shared/density/rules/rewrite-price.js';
import { workingHistory } from '../../../support/working-notation.js';

/** The tokens of a placeholder and of a call, and the price of a rewritten token, in tokens of one call. */
const [PLACEHOLDER, CALL, PRICE] = [16, 100, 11.5];

/**
 * Judges results, one call each and all of them sent: `100` is a result of 100 tokens that stays, `s100` an expired one, `e100` one that is removed with
 * others, `d100` one that another rule drops with its call, and `p100` one that becomes a pointer anyway.
 */
function reclaim(
  results: string,
  rules: Partial<WorkingSetRules> = {},
): Omit<Reclaim, 'firstEntry'> & { readonly firstRow: number } {
  const words = results.split(' ');
  const notation = words.map((word, at) => `run(${at})=${word.replace(/^\D/, '')}`).join(' ');
  const workingSet = { ...DEFAULT_WORKING_SET, freeTokens: 0, ...rules };
  const index = new HistoryIndex(
    scopeOfPass({
      ...{ readWritePruning: false, fileDedupe: false, recencyPruning: false, recencyRetention: 1 },
      ...{ workspaceRoot: '/work', workingSet },
    }),
  );
  for (const entry of workingHistory(`${notation} a`)) index.append(entry);
  const markedAs = (letter: string, mark: number): readonly number[] =>
    words.map((word) => (word.startsWith(letter) ? mark : 0));
  const sum = (...marks: readonly (readonly number[])[]): Uint8Array =>
    Uint8Array.from(words, (_, row) => marks.reduce((total, each) => total + (each[row] ?? 0), 0));
  const reason = sum(
    markedAs('s', WORKING_SET_REASON.expired),
    markedAs('e', WORKING_SET_REASON.aged),
  );
  const spent = new Int32Array(words.length);
  const { firstEntry, ...found } = reclaimOf(index, { reason, spent }, workingSet, {
    calls: sum(markedAs('d', ACTION.companion)),
    responses: sum(markedAs('d', ACTION.drop), markedAs('p', ACTION.pointer)),
  });
  // Each call has its own entry, and so has its result.
  return { ...found, firstRow: Math.min(words.length, (firstEntry - 1) / 2) };
}

/** What a result of that size reclaims: all but a placeholder, a tenth for names and a fourth for its outcome, at most 100 and 25. */
function gain(tokens: number): number {
  return tokens - PLACEHOLDER - Math.min(100, tokens / 10) - Math.min(25, tokens / 4);
}

describe('reclaimOf', () => {
  it('sums what waiting results would reclaim', () => {
    const rules = { paybackCalls: 0.01 };
    const { waitingTokens } = reclaim('s100 500 s3000 e1000 s5 d700 p700', rules);
    expect(waitingTokens).toBe(gain(100) + gain(3_000));
    expect(reclaim('s100 9000 s3000', {}).waitingTokens).toBe(gain(100));
    expect(reclaim('s3000', {}).waitingTokens).toBe(0);
  });

  it('needs the price of everything behind the first of them', () => {
    const behind = PLACEHOLDER + CALL + 700 + CALL;
    expect(reclaim('9000 s5000 700 10', { paybackCalls: 10 }).neededTokens).toBeCloseTo(
      (PRICE * (behind + 10)) / 10,
    );
  });

  it('removes them when they pay for that, and not before', () => {
    const first = (paybackCalls: number): number => reclaim('s5000 700', { paybackCalls }).firstRow;
    const needed = (PRICE * (PLACEHOLDER + CALL + 700)) / gain(5_000);
    expect(first(needed + 0.01)).toBe(0);
    expect(first(needed - 0.01)).toBe(2);
  });

  it('starts where it pays best', () => {
    expect(reclaim('s300 9000 s5000 10', { paybackCalls: 10 }).firstRow).toBe(2);
    expect(reclaim('s5000 100 s5000 10', { paybackCalls: 10 }).firstRow).toBe(0);
    expect(reclaim('s5000 9000 s300 10', { paybackCalls: 10 }).firstRow).toBe(2);
  });

  it('counts results that are removed with others as removed, but never as a reason', () => {
    const rules = { paybackCalls: 10 };
    expect(reclaim('s5000 9000', rules).firstRow).toBe(2);
    expect(reclaim('s5000 e9000', rules).firstRow).toBe(0);
    expect(reclaim('e5000 e9000', rules)).toMatchObject({ firstRow: 2, waitingTokens: 0 });
  });

  it('counts what other rules remove as removed, including calls', () => {
    const rules = { paybackCalls: 10 };
    expect(reclaim('s5000 p9000', rules).firstRow).toBe(0);
    const needed = (results: string): number => reclaim(results, rules).neededTokens;
    expect(needed('s5000 p9000') - needed('s5000 d9000')).toBeCloseTo(
      (PRICE * (PLACEHOLDER + CALL)) / 10,
    );
  });

  it('keeps everything while all results together have few tokens', () => {
    const all = 's5000 10 p900';
    expect(reclaim(all, { paybackCalls: Infinity, freeTokens: 5_010 }).firstRow).toBe(0);
    expect(reclaim(all, { paybackCalls: Infinity, freeTokens: 5_011 })).toMatchObject({
      firstRow: 3,
      neededTokens: Infinity,
    });
  });

  it('removes everything at once if a rewrite is free, and nothing if it never pays', () => {
    expect(reclaim('10 e900 9000', { paybackCalls: Infinity }).firstRow).toBe(1);
    expect(reclaim('10 s900 9000', { paybackCalls: Infinity }).firstRow).toBe(1);
    expect(reclaim('10 s900 s900', { paybackCalls: 0 }).firstRow).toBe(3);
  });
});
