// What is left of an edit that may change nothing in front of a place.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { FoundEdit } from '../../../src/main/preflight/found-edit.js';
import type { IContent } from '../../../src/shared/content.js';
import { applyDensityResult } from '../../../src/shared/density.js';
import type { DensityConfig, DensityResult } from '../../../src/shared/density.js';
import { optimize, planWithTexts } from '../../../src/shared/density/plan/optimize.js';
import { EMPTY_PLAN, listRuleEdits } from '../../../src/shared/density/plan/plan.js';
import { ACTION } from '../../../src/shared/density/rules/marks.js';
import type { WorkingSetRules } from '../../../src/shared/density/rules/working-set-rules.js';
import { findViolations } from '../../../src/shared/validity.js';
import { arbitraryDensityConfig, arbitraryHistory } from '../../support/arbitrary-history.js';
import {
  arbitraryWorkingConfig,
  arbitraryWorkingHistoryOf,
} from '../../support/arbitrary-working-history.js';
import { describeResult, historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';

const PASS: DensityConfig = {
  workspaceRoot: '/w',
  readWritePruning: true,
  fileDedupe: true,
  recencyPruning: false,
  recencyRetention: 1,
};

/** Makes every result that was sent stale. */
const ALL_STALE: WorkingSetRules = {
  ...{ readCalls: 0, searchCalls: 0, outputCalls: 0, otherCalls: 0 },
  ...{ earlyShare: 1, paybackCalls: Infinity, freeTokens: 0 },
};

/** Longer than a placeholder. */
const LONG = 'x'.repeat(200);

function limited(notation: string, entry: number, block = 0, pass = PASS): DensityResult {
  const history = historyOf(notation);
  const place = { entry, block };
  const { plan } = planWithTexts(history, pass);
  return new FoundEdit(plan, { history, settings: pass }).limitedTo(place).result;
}

describe('FoundEdit.limitedTo', () => {
  it.each([
    ['all, when the place is the start', 0, '-1 -2 -3 -4'],
    ['a pair whose call is at the place', 3, '-3 -4'],
    ['no response whose call is before the place', 4, ''],
    ['no response whose call is before the place', 2, '-3 -4'],
    ['nothing, when the place is behind it', 5, ''],
  ])('leaves %s', (_, entry, expected) => {
    expect(describeResult(limited('h a:r1 t:r1 a:r2 t:r2 a:w3 t:w3', entry))).toBe(expected);
  });

  it('keeps an entry that would lose one of two calls whose responses have to stay', () => {
    // The second response came late: the entries before it were sent.
    const notation = 'h a:r1,r2(b.ts) t:r1 t:r2 a:w3 t:w3 a:w4(b.ts) t:w4';
    expect(describeResult(limited(notation, 0))).toBe('-1 -2 -3');
    expect(describeResult(limited(notation, 3))).toBe('');
  });

  it('keeps two pairs with the same id together', () => {
    const notation = 'h a:r1 t:r1 h a:r1 t:r1 a:w2 t:w2';
    expect(describeResult(limited(notation, 0))).toBe('-1 -2 -4 -5');
    expect(describeResult(limited(notation, 3))).toBe('');
  });

  it('cuts no inclusion before the place', () => {
    const notation = 'h:see+@a.ts h:and+@a.ts h:now+@a.ts';
    expect(describeResult(limited(notation, 0))).toBe('~0 ~1');
    expect(describeResult(limited(notation, 1))).toBe('~1');
  });

  it('edits an entry behind the block that the place names, and not before it', () => {
    const notation = 'h a:*s1,sure,r1 t:r1 a:w2 t:w2';
    expect(describeResult(limited(notation, 1, 2))).toBe('~1 -2');
    expect(describeResult(limited(notation, 1, 3))).toBe('');
  });

  it('removes no entry with a part that has to stay', () => {
    expect(describeResult(limited('h a:*s1,r1 t:r1 a:w2 t:w2', 1, 1))).toBe('');
  });

  it('reports in the metadata what is left', () => {
    const notation = 'h:see+@a.ts a:r1 t:r1 h:now+@a.ts+@a.ts a:r2,s3,s4 t:r2 t:s3 t:s4 a:w5 t:w5';
    const pass = { ...PASS, recencyPruning: true };
    expect(limited(notation, 0, 0, pass).metadata).toEqual({
      readWritePairsPruned: 2,
      fileDeduplicationsPruned: 2,
      recencyPruned: 1,
    });
    expect(limited(notation, 3, 0, pass).metadata).toEqual({
      readWritePairsPruned: 1,
      fileDeduplicationsPruned: 1,
      recencyPruned: 1,
    });
  });

  it('leaves histories valid, entries before the place unedited, and the edit whole when all of it is behind the place', () => {
    const property = fc.property(
      arbitraryHistory({ maxEntries: 60 }),
      arbitraryDensityConfig(),
      fc.nat(40),
      fc.nat(3),
      (history, config, entry, block) => {
        const whole = new FoundEdit(planWithTexts(history, config).plan, {
          history,
          settings: config,
        });
        const planned = whole.limitedTo({ entry, block });
        const { result } = planned;
        const edited = history.slice();
        applyDensityResult(edited, result);
        expect(findViolations(edited)).toEqual([]);
        expect(edited.slice(0, entry)).toEqual(history.slice(0, entry));
        const { removals, replacements } = optimize(history, config);
        const indices = [...removals, ...replacements.keys()];
        if (indices.every((index) => index > entry)) expect(planned).toBe(whole);
        const kept = history[entry]?.blocks.slice(0, block) ?? [];
        if (!result.removals.includes(entry)) {
          expect(edited[entry]?.blocks.slice(0, block) ?? []).toEqual(kept);
        } else {
          expect(block).toBe(0);
        }
      },
    );
    fc.assert(property, { numRuns: runs(1_000) });
  });

  it.each([
    // Only the working set removes results.
    [{ recencyPruning: false }, { readWritePairsPruned: 0, recencyPruned: 0, workingSetPruned: 3 }],
    // Recency removes the first two; the working set removes the rest.
    [{ recencyPruning: true }, { readWritePairsPruned: 0, recencyPruned: 2, workingSetPruned: 1 }],
  ])('counts with %o the edits of the working set', (phases, expected) => {
    const pass = { ...PASS, ...phases, workingSet: ALL_STALE };
    const notation = `h:@b.ts h:@b.ts a:s1 t:s1(${LONG}) a:s2 t:s2(${LONG}) a:s3 t:s3(${LONG}) a a`;
    const metadata = { fileDeduplicationsPruned: 0, ...expected };
    expect(limited(notation, 1, 0, pass).metadata).toEqual(metadata);
  });

  it('reports the same for a whole edit as the pass', () => {
    const property = fc.property(
      arbitraryHistory({ maxEntries: 60 }),
      arbitraryDensityConfig(),
      (history, config) => {
        const whole = optimize(history, config);
        const result = allBut(whole, history, config);
        expect(result.metadata).toEqual(whole.metadata);
        expect(result.replacements.size).toBe(whole.replacements.size);
      },
    );
    fc.assert(property, { numRuns: runs(500) });
  });

  it('reports the same for a whole edit with a working set as the pass', () => {
    const property = fc.property(
      arbitraryWorkingHistoryOf({ maxEntries: 60 }),
      arbitraryWorkingConfig(),
      (history, config) => {
        const { metadata } = optimize(history, config);
        const others = allBut(optimize(history, config), history, config).metadata;
        expect(others).toEqual(metadata);
      },
    );
    fc.assert(property, { numRuns: runs(500) });
  });
});

describe('FoundEdit.shrinkingFrom', () => {
  const pass = { ...PASS, shrink: 'default' } as const;
  const blank = `(${'\n'.repeat(400)}x)`;
  // The inclusion is cut, and the second response is shrunk.
  const history = historyOf(`h:see+@a.ts a:r1(b.ts),s2 t:r1(b.ts) t:s2${blank} h:now+@a.ts`);
  const { plan, texts } = planWithTexts(history, pass);

  it.each([
    [0, '~3'],
    [3, '~3'],
    [4, ''],
  ])('keeps from entry %i on the edits that only shrink results', (entry, expected) => {
    const planned = new FoundEdit(plan, { history, settings: pass, texts });
    expect(describeResult(planned.result)).toBe('~0 ~3');
    expect(describeResult(planned.shrinkingFrom(entry).result)).toBe(expected);
  });

  it('keeps an entry as it is if it is not only shrunk', () => {
    const recent = { ...pass, recencyPruning: true };
    const both = historyOf(`h a:s1,s2 t:s1,s2${blank}`);
    const edit = optimize(both, recent);
    expect(describeResult(edit)).toBe('~2');
    expect(listRuleEdits(edit.rows ?? EMPTY_PLAN, () => []).map(({ rule }) => rule)).toEqual([
      'recency',
      'shrink',
    ]);
    const { plan: rows, texts: shorter } = planWithTexts(both, recent);
    const found = new FoundEdit(rows, { history: both, settings: recent, texts: shorter });
    expect(found.shrinkingFrom(0).firstEntry).toBe(Infinity);
  });

  it('returns the same edit if it is complete', () => {
    const found = new FoundEdit(plan, { history, settings: pass, texts }).shrinkingFrom(3);
    expect(found.shrinkingFrom(2)).toBe(found);
  });
});

/** All of an edit except for one more, of an entry in front that no pass edits. */
function allBut(
  whole: DensityResult,
  history: readonly IContent[],
  config: DensityConfig,
): DensityResult {
  const before = [{ speaker: 'human' as const, blocks: [{ type: 'text' as const, text: 'x' }] }];
  const shifted = (whole.rows ?? EMPTY_PLAN).map((value, at) => value + (at % 6 === 0 ? 1 : 0));
  const plan = Int32Array.of(0, 0, ACTION.drop, 0, -1, -1, ...shifted);
  const entries = [...before, ...history];
  return new FoundEdit(plan, { history: entries, settings: config }).limitedTo({
    entry: 1,
    block: 0,
  }).result;
}
