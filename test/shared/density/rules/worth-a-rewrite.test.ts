// When stale results leave: all at once when they are worth it, those near the end as soon as they give back enough.

import { describe, expect, it } from 'vitest';
import { HistoryIndex } from '../../../../src/shared/density/index/history-index.js';
import { scopeOfPass } from '../../../../src/shared/density/plan/optimize.js';
import { ACTION } from '../../../../src/shared/density/rules/marks.js';
import { DEFAULT_WORKING_SET } from '../../../../src/shared/density/rules/working-set-rules.js';
import type { WorkingSetRules } from '../../../../src/shared/density/rules/working-set-rules.js';
import { reclaimOf } from '../../../../src/shared/density/rules/worth-a-rewrite.js';
import type { Reclaim } from '../../../../src/shared/density/rules/worth-a-rewrite.js';
import { workingHistory } from '../../../support/working-notation.js';

const RULES: WorkingSetRules = {
  ...DEFAULT_WORKING_SET,
  ...{ minCausingTokens: 0, tailTokens: 0, minTailReclaim: 0, minTailShare: 0 },
  ...{ minReclaimTokens: Infinity, minReclaimShare: 0 },
};
/** What stands for a placeholder, for an excerpt and for a call. */
const [PLACEHOLDER, EXCERPT, CALL] = [16, 150, 100];

/**
 * Judges results, one call each: `100` is one of so many tokens that stays, `s100` a stale one, `e900` one of which an
 * excerpt does, `d100` one that another phase drops with its call, and `p100` one that becomes a pointer anyhow.
 */
function reclaim(results: string, rules: Partial<WorkingSetRules>): Reclaim {
  const words = results.split(' ');
  const notation = words.map((word, at) => `run(${at})=${word.replace(/^\D/, '')}`).join(' ');
  const workingSet = { ...RULES, ...rules };
  const index = new HistoryIndex(
    scopeOfPass({
      ...{ readWritePruning: false, fileDedupe: false, recencyPruning: false, recencyRetention: 1 },
      ...{ workspaceRoot: '/work', workingSet },
    }),
  );
  for (const entry of workingHistory(notation)) index.append(entry);
  const markedAs = (letter: string, mark: number): Uint8Array =>
    Uint8Array.from(words, (word) => (word.startsWith(letter) ? mark : 0));
  const pointers = markedAs('s', ACTION.pointer);
  const excerpts = markedAs('e', ACTION.excerpt);
  const ofOthers = markedAs('p', ACTION.pointer);
  return reclaimOf(
    index,
    pointers.map((mark, row) => mark + (excerpts[row] ?? 0)),
    workingSet,
    {
      calls: markedAs('d', ACTION.companion),
      responses: markedAs('d', ACTION.drop).map(
        (mark, row) => mark + (ofOthers[row] ?? ACTION.none),
      ),
    },
  );
}

describe('reclaimOf', () => {
  it('adds up what stale results give back, which is what a placeholder does not take', () => {
    const { staleTokens } = reclaim('s100 500 s1000 e1000 s5 d700 p700', {});
    expect(staleTokens).toBe(100 - PLACEHOLDER + 1_000 - PLACEHOLDER + 1_000 - EXCERPT);
  });

  it('counts small ones for nothing, which leave with others', () => {
    const rules = { minCausingTokens: 100, minReclaimTokens: 0 };
    expect(reclaim('s99 s100 e99', rules)).toMatchObject({
      staleTokens: 100 - PLACEHOLDER,
      firstRow: 0,
      isBatch: true,
    });
  });

  it('lets all go once they give back enough', () => {
    const batch = (minReclaimTokens: number): Reclaim =>
      reclaim('900 s500 900 s500 900', { minReclaimTokens });
    const gain = 2 * (500 - PLACEHOLDER);
    expect(batch(gain)).toMatchObject({ isBatch: true, firstRow: 0, neededTokens: gain });
    expect(batch(gain + 1)).toMatchObject({ isBatch: false, firstRow: 5, staleTokens: gain });
  });

  it('asks for a share of what stays as it is', () => {
    const batch = (results: string): Reclaim =>
      reclaim(results, { minReclaimTokens: 0, minReclaimShare: 0.5 });
    const gain = 500 - PLACEHOLDER;
    expect(batch(`s500 ${2 * gain}`)).toMatchObject({ isBatch: true, neededTokens: gain });
    expect(batch(`s500 ${2 * gain + 2}`)).toMatchObject({ isBatch: false, neededTokens: gain + 1 });
    // What other phases take away does not stay.
    expect(batch(`s500 d9000 p9000 ${2 * gain}`)).toMatchObject({ isBatch: true });
  });

  describe('near the end', () => {
    it('lets go what has no more than that behind it', () => {
      const tail = (tailTokens: number): number => reclaim('s500 700 800', { tailTokens }).firstRow;
      expect(tail(700 + 800 + 2 * CALL)).toBe(0);
      expect(tail(700 + 800 + 2 * CALL - 1)).toBe(3);
    });

    it('counts behind it what will stand there', () => {
      const tail = (tailTokens: number): number =>
        reclaim('s500 e700 s900 d5000 p5000', { tailTokens }).firstRow;
      // All but the dropped one keep their calls.
      const behind = EXCERPT + PLACEHOLDER + PLACEHOLDER + 3 * CALL;
      expect(tail(behind)).toBe(0);
      expect(tail(behind - 1)).toBe(1);
    });

    it('counts stale ones that are smaller than a placeholder for no more than they are', () => {
      const tail = (tailTokens: number): number => reclaim('s500 s3 s3', { tailTokens }).firstRow;
      expect(tail(2 * 3 + 2 * CALL)).toBe(0);
      expect(tail(2 * 3 + 2 * CALL - 1)).toBe(1);
    });

    it('lets go as far ahead as they give back enough', () => {
      const tail = (minTailReclaim: number): number =>
        reclaim('s900 10 s300 10 s300 10', { tailTokens: Infinity, minTailReclaim }).firstRow;
      const gain = 300 - PLACEHOLDER;
      expect(tail(0)).toBe(0);
      expect(tail(2 * gain + 900 - PLACEHOLDER)).toBe(0);
      expect(tail(2 * gain + 900 - PLACEHOLDER + 1)).toBe(6);
    });

    it('asks for a share of what then stands behind the first of them', () => {
      const tail = (minTailShare: number): number =>
        reclaim('900 s500 1000', { tailTokens: Infinity, minTailShare }).firstRow;
      const share = (500 - PLACEHOLDER) / (1_000 + CALL + PLACEHOLDER);
      expect(tail(share)).toBe(1);
      expect(tail(share + 0.001)).toBe(3);
    });

    it('takes a part of the tail when the whole is not worth it', () => {
      const rules = { tailTokens: Infinity, minTailShare: 0.3 };
      expect(reclaim('s20 9000 s500 500', rules).firstRow).toBe(2);
    });
  });

  it('lets nothing go of nothing', () => {
    const rules = { tailTokens: Infinity };
    expect(reclaim('100 200', rules)).toMatchObject({
      firstRow: 2,
      staleTokens: 0,
      isBatch: false,
    });
  });

  it('never lets go what it would take an infinite gain for', () => {
    const rules = { minReclaimShare: Infinity, minReclaimTokens: 0, minTailShare: Infinity };
    expect(reclaim('s900 s900', { ...rules, tailTokens: Infinity }).firstRow).toBe(2);
    expect(reclaim('s900 1 s900', { ...rules, tailTokens: Infinity }).firstRow).toBe(3);
  });
});
