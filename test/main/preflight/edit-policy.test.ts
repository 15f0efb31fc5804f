// When a density edit may land, by policy and facts.

import { describe, expect, it } from 'vitest';

import { decideEdits } from '../../../src/main/preflight/edit-policy.js';
import type { EditDecision, EditFacts } from '../../../src/main/preflight/edit-policy.js';
import type { EditPolicy } from '../../../src/main/preflight/edit-options.js';

const WARM = {
  isForced: false,
  isCacheCold: false,
  sentEntries: 5,
  reclaimed: 99,
  minReclaimTokens: 100,
};
type Case = readonly [EditPolicy, Partial<typeof WARM>, string];

function told(decision: EditDecision): string {
  return decision.verdict === 'hold' ? 'hold' : `${decision.verdict}: ${decision.reason}`;
}

describe('decideEdits', () => {
  it.each<Case>([
    ['every-turn', {}, 'land: every-turn'],
    ['every-turn', { isForced: true, isCacheCold: true }, 'land: every-turn'],
    ['batched', {}, 'hold'],
    ['batched', { reclaimed: 100 }, 'land: reclaims-enough'],
    ['batched', { isCacheCold: true }, 'land: cache-cold'],
    ['batched', { isForced: true }, 'land: threshold'],
    ['batched', { sentEntries: 0 }, 'hold'],
    ['batched', { minReclaimTokens: 0, reclaimed: 0 }, 'land: reclaims-enough'],
    ['at-birth', {}, 'unsent-only: unsent'],
    ['at-birth', { reclaimed: 1_000 }, 'unsent-only: unsent'],
    ['at-birth', { isCacheCold: true }, 'unsent-only: unsent'],
    ['at-birth', { sentEntries: 0 }, 'land: unsent'],
    ['at-birth', { isForced: true }, 'land: threshold'],
  ])('by %s, when %j: %s', (policy, given, expected) => {
    const { reclaimed, ...facts } = { ...WARM, ...given };
    const worthwhileFrom = (): number => 0;
    expect(
      told(decideEdits(policy, { ...facts, worthwhileFrom, reclaimedTokens: () => reclaimed })),
    ).toBe(expected);
  });

  it('lands from where the price of the cache says, when no number is given', () => {
    const facts = { ...WARM, minReclaimTokens: undefined, reclaimedTokens: () => 0 };
    const from = (entry: number): EditDecision =>
      decideEdits('batched', { ...facts, worthwhileFrom: () => entry });
    expect(from(3)).toEqual({ verdict: 'land-from', entry: 3, reason: 'reclaims-enough' });
    expect(from(Infinity)).toEqual({ verdict: 'hold' });
  });

  it('asks what an edit takes away only when that decides', () => {
    const facts: EditFacts = {
      ...WARM,
      worthwhileFrom: () => 0,
      reclaimedTokens: () => {
        throw new Error('asked');
      },
    };
    expect(told(decideEdits('every-turn', facts))).toBe('land: every-turn');
    expect(told(decideEdits('at-birth', facts))).toBe('unsent-only: unsent');
    expect(told(decideEdits('batched', { ...facts, isCacheCold: true }))).toBe('land: cache-cold');
    expect(() => decideEdits('batched', facts)).toThrow('asked');
  });
});
