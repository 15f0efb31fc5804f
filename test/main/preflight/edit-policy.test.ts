// When a density edit may land, by policy and facts.

import { describe, expect, it } from 'vitest';

import { BatchPoints, EditGate, needsOpenTurn } from '../../../src/main/preflight/edit-policy.js';
import type { Admission, GateParts } from '../../../src/main/preflight/edit-policy.js';
import type { EditPolicy } from '../../../src/main/preflight/edit-options.js';
import type { ReasoningPolicy } from '../../../src/main/preflight/reasoning-policy.js';
import { FoundEdit } from '../../../src/main/preflight/found-edit.js';
import { DEFAULT_DENSITY_CONFIG } from '../../../src/shared/density.js';
import { ReasoningTerms } from '../../../src/main/models/session-model.js';
import { planWithTexts } from '../../../src/shared/density/plan/optimize.js';
import { describeResult, historyOf } from '../../support/notation.js';

const PASS = { ...DEFAULT_DENSITY_CONFIG, workspaceRoot: '/w' };
/** Two stale reads: one was sent, one was not. */
const HISTORY = historyOf('h a:r1 t:r1 a:w2 t:w2 a:r3 t:r3 a:w4 t:w4');
const SENT_ENTRIES = 5;

const WARM = {
  isForced: false,
  isBatchPoint: true,
  isCacheCold: false,
  sentEntries: SENT_ENTRIES,
  /** By entry; the whole edit is worth 100. */
  tokens: Array.from(HISTORY, () => 25),
  minReclaimTokens: 101 as number | undefined,
};
type Given = Partial<typeof WARM>;

/** A session in which a warm cache holds the sent entries. */
function partsOf(edits: EditPolicy, given: Given = {}, other: Partial<GateParts> = {}): GateParts {
  const { isCacheCold, sentEntries, tokens, minReclaimTokens } = { ...WARM, ...given };
  return {
    config: { edits: { edits, minReclaimTokens }, model: { bindsReasoning: false } },
    reasoningTerms: new ReasoningTerms('keep'),
    history: {
      getRawHistory: () => HISTORY,
      countedTokens: (entry) => tokens[HISTORY.indexOf(entry)],
    },
    sent: { intactEntries: sentEntries, isCacheCold },
    cache: { price: undefined, prices: { read: 0.1, write: 1.25 } },
    ...other,
  };
}

function admitted(
  edits: EditPolicy,
  given: Given,
  countedTokens?: () => number,
  onMade: () => void = () => undefined,
): Admission {
  const { isForced, isBatchPoint } = { ...WARM, ...given };
  const parts = partsOf(edits, given);
  const history = { ...parts.history, ...(countedTokens && { countedTokens }) };
  const found = new FoundEdit(planWithTexts(HISTORY, PASS).plan, {
    history: HISTORY,
    settings: PASS,
    onMade,
  });
  return new EditGate({ ...parts, history }).admit(found, { isForced, isBatchPoint });
}

function describeAdmission({ result, reason, isWhole }: Admission): string {
  return reason === undefined ? 'none' : `${isWhole ? 'all' : describeResult(result)}: ${reason}`;
}

describe('EditGate', () => {
  it.each<readonly [EditPolicy, Given, string]>([
    ['every-turn', {}, 'all: every-turn'],
    ['every-turn', { isForced: true, isCacheCold: true }, 'all: every-turn'],
    ['batched', {}, 'none'],
    ['batched', { minReclaimTokens: 100 }, 'all: reclaims-enough'],
    ['batched', { minReclaimTokens: 100, isBatchPoint: false }, 'none'],
    ['batched', { isCacheCold: true }, 'all: cache-cold'],
    ['batched', { isForced: true }, 'all: threshold'],
    ['batched', { sentEntries: 0 }, 'none'],
    ['batched', { minReclaimTokens: 0, tokens: HISTORY.map(() => 0) }, 'all: reclaims-enough'],
    ['at-birth', {}, '-5 -6: unsent'],
    ['at-birth', { minReclaimTokens: 0 }, '-5 -6: unsent'],
    ['at-birth', { isCacheCold: true }, '-5 -6: unsent'],
    ['at-birth', { sentEntries: 0 }, 'all: unsent'],
    ['at-birth', { isForced: true }, 'all: threshold'],
  ])('lands by %s, when %j: %s', (policy, given, expected) => {
    expect(describeAdmission(admitted(policy, given))).toBe(expected);
  });

  it('lands from where the cache price says, when no number is given', () => {
    const given = { minReclaimTokens: undefined };
    expect(describeAdmission(admitted('batched', given))).toBe('all: reclaims-enough');
    // Rewriting this entry would cost more than the stale read in front of it saves; entries that were not sent rewrite nothing.
    const tokens = HISTORY.map((_, index) => (index === 4 ? 100_000 : 25));
    expect(describeAdmission(admitted('batched', { ...given, tokens }))).toBe('-5 -6: unsent');
    expect(describeAdmission(admitted('batched', { ...given, tokens, isBatchPoint: false }))).toBe(
      'none',
    );
    const nothing = HISTORY.map(() => 0);
    expect(describeAdmission(admitted('batched', { ...given, tokens: nothing }))).toBe('none');
  });

  it('computes the reclaimed tokens only when they decide', () => {
    const asked = (): number => {
      throw new Error('asked');
    };
    expect(describeAdmission(admitted('every-turn', {}, asked))).toBe('all: every-turn');
    expect(describeAdmission(admitted('at-birth', {}, asked))).toBe('-5 -6: unsent');
    expect(describeAdmission(admitted('batched', { isCacheCold: true }, asked))).toBe(
      'all: cache-cold',
    );
    expect(describeAdmission(admitted('batched', { isBatchPoint: false }, asked))).toBe('none');
    expect(() => admitted('batched', {}, asked)).toThrow('asked');
  });

  it('makes no replacements of an edit that would be held even if it left nothing', () => {
    const tokens = HISTORY.map((_, index) => (index === 8 ? 100_000 : 25));
    const given = { minReclaimTokens: undefined, sentEntries: HISTORY.length };
    let made = 0;
    const onMade = (): void => void (made += 1);
    expect(describeAdmission(admitted('batched', { ...given, tokens }, undefined, onMade))).toBe(
      'none',
    );
    expect(made).toBe(0);
    expect(describeAdmission(admitted('batched', given, undefined, onMade))).toBe(
      'all: reclaims-enough',
    );
    expect(made).toBeGreaterThan(0);
  });
});

describe('EditGate in front of reasoning', () => {
  const DONE = 'h a:r1 t:r1 a:w2 t:w2 a:*s1,okay h';
  const OPEN = 'h a:r1 t:r1 a:w2 t:w2 a:*s1,g3 t:g3';
  it.each<[string | undefined, EditPolicy, ReasoningPolicy | undefined, boolean, string]>([
    ['cache-cold', 'append-only', 'keep', false, DONE],
    [undefined, 'append-only', undefined, false, DONE],
    ['threshold', 'append-only', undefined, true, DONE],
    ['every-turn', 'every-turn', 'keep', false, DONE],
    [undefined, 'every-turn', 'forbid-edits', false, DONE],
    [undefined, 'append-only', 'forbid-edits', true, DONE],
    ['cache-cold', 'append-only', 'strip-after-first-edit', false, DONE],
    [undefined, 'append-only', 'strip-after-first-edit', false, OPEN],
    ['threshold', 'append-only', 'strip-after-first-edit', true, OPEN],
  ])('lands an edit as %s under %s and %s, if forced: %s, in %s', (...given) => {
    const [reason, edits, reasoning, isForced, notation] = given;
    const history = historyOf(notation);
    const parts = partsOf(
      edits,
      { isCacheCold: true },
      {
        reasoningTerms: new ReasoningTerms(reasoning),
        history: { getRawHistory: () => history, countedTokens: () => 25 },
      },
    );
    const found = new FoundEdit(planWithTexts(history, PASS).plan, { history, settings: PASS });
    expect(new EditGate(parts).admit(found, { isForced, isBatchPoint: true }).reason).toBe(reason);
  });
});

describe('needsOpenTurn', () => {
  it.each<[boolean, EditPolicy, 'strip-after-first-edit' | 'keep', boolean, string]>([
    [true, 'append-only', 'strip-after-first-edit', false, 'h a:r1 t:r1'],
    [true, 'auto', 'strip-after-first-edit', true, 'h a:r1 t:r1'],
    [true, 'batched', 'strip-after-first-edit', true, 'h a:r1 t:r1'],
    [false, 'append-only', 'keep', false, 'h a:r1 t:r1'],
    [false, 'auto', 'strip-after-first-edit', false, 'h a:r1 t:r1'],
    [false, 'every-turn', 'strip-after-first-edit', true, 'h a:r1 t:r1'],
    [false, 'append-only', 'strip-after-first-edit', false, 'h a:r1 t:r1 h'],
  ])('is %s under %s and %s, if the model binds: %s, in %s', (...given) => {
    const [isNeeded, edits, reasoning, bindsReasoning, notation] = given;
    const history = historyOf(notation);
    const parts = partsOf(
      edits,
      {},
      {
        config: { edits: { edits }, model: { bindsReasoning } },
        reasoningTerms: new ReasoningTerms(reasoning),
        history: { getRawHistory: () => history, countedTokens: () => undefined },
      },
    );
    expect(needsOpenTurn(parts)).toBe(isNeeded);
  });
});

describe('BatchPoints', () => {
  it('are all preflights of a short history, and fewer the longer it gets', () => {
    const points = new BatchPoints();
    const at = [10, 10, 63, 63, 64, 64, 65, 128, 129, 130, 640, 649, 650];
    const reached = at.filter((entries) => points.reaches(entries));
    expect(reached).toEqual([10, 10, 63, 63, 64, 65, 128, 130, 640, 650]);
    expect(new BatchPoints(points.next).reaches(659)).toBe(false);
  });
});
