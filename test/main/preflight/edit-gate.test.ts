// Which entries the decision about an edit reads: most of an edit may be held for as long as the session lasts.

import { describe, expect, it } from 'vitest';

import { EditGate } from '../../../src/main/preflight/edit-policy.js';
import { ReasoningTerms } from '../../../src/main/models/session-model.js';
import { FoundEdit } from '../../../src/main/preflight/found-edit.js';
import type { IContent } from '../../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG } from '../../../src/shared/density.js';
import { planWithTexts } from '../../../src/shared/density/plan/optimize.js';
import { historyOf } from '../../support/notation.js';

const PASS = { ...DEFAULT_DENSITY_CONFIG, workspaceRoot: '/w' };

/** Ten reads superseded by writes. */
const STALE = Array.from({ length: 10 }, (_, at) => {
  const file = `(${String(at)}.ts)`;
  return `a:*s${at}00,r${at}01${file} t:r${at}01 a:w${at}02${file} t:w${at}02`;
}).join(' ');

/** Records which entries are read. */
function watched(entries: readonly IContent[], reads: Set<number>): readonly IContent[] {
  return new Proxy(entries, {
    get: (target, key, receiver) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads.add(Number(key));
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
}

describe('EditGate', () => {
  it.each([
    ['auto', 'keep'],
    ['auto', 'forbid-edits'],
    ['batched', 'forbid-edits'],
    ['append-only', 'keep'],
    ['append-only', 'forbid-edits'],
    ['at-birth', 'keep'],
    ['at-birth', 'forbid-edits'],
  ] as const)('does not read the entries of held edits: %s, %s', (edits, reasoning) => {
    const entries = historyOf(`h ${STALE} h`);
    const reads = new Set<number>();
    const history = watched(entries, reads);
    const { plan } = planWithTexts(entries, PASS);
    const found = new FoundEdit(plan, { history, settings: PASS });
    expect(found.size).toBe(20);
    const gate = new EditGate({
      config: { edits: { edits, minReclaimTokens: 0 }, model: { bindsReasoning: false } },
      reasoningTerms: {
        policy: reasoning,
        isStripping: reasoning !== 'keep',
        isUnset: true,
        keepsTurnStart: false,
      },
      history: { getRawHistory: () => history, countedTokens: () => 1 },
      sent: { intactEntries: entries.length - 1, isCacheCold: false },
      cache: { price: undefined, prices: { read: 0.1, write: 1.25 } },
    });
    const { reason, isWhole } = gate.admit(found, { isForced: false, isBatchPoint: false });
    expect({ reason, isWhole }).toEqual({ reason: undefined, isWhole: false });
    expect([...reads].filter((index) => index < entries.length - 1)).toEqual([]);
  });

  it.each([
    ['every-turn', true],
    ['auto', false],
  ] as const)('lands in front of reasoning that the model binds under %s: %s', (edits, isWhole) => {
    const history = historyOf(`h ${STALE} h`);
    const found = new FoundEdit(planWithTexts(history, PASS).plan, { history, settings: PASS });
    const gate = new EditGate({
      config: { edits: { edits, minReclaimTokens: 0 }, model: { bindsReasoning: true } },
      reasoningTerms: new ReasoningTerms(undefined),
      history: { getRawHistory: () => history, countedTokens: () => 1 },
      sent: { intactEntries: history.length - 1, isCacheCold: false },
      cache: { price: undefined, prices: { read: 0.1, write: 1.25 } },
    });
    expect(gate.admit(found, { isForced: false, isBatchPoint: true }).isWhole).toBe(isWhole);
  });

  it.each([undefined, 100])(
    'decides the same whether or not its replacements are counted: %s',
    (after) => {
      const result = `(${'x'.repeat(400)})`;
      const history = historyOf(`h a:s1 t:s1${result} a:s2 t:s2 h`);
      const pass = { ...PASS, recencyPruning: true, recencyRetention: 1 };
      const found = new FoundEdit(planWithTexts(history, pass).plan, { history, settings: pass });
      const gate = new EditGate({
        config: {
          edits: { edits: 'auto', minReclaimTokens: 50 },
          model: { bindsReasoning: false },
        },
        reasoningTerms: new ReasoningTerms(undefined),
        history: {
          getRawHistory: () => history,
          countedTokens: (entry) => (history.includes(entry) ? 100 : after),
        },
        sent: { intactEntries: history.length, isCacheCold: false },
        cache: { price: undefined, prices: { read: 0.1, write: 1.25 } },
      });
      expect(gate.admit(found, { isForced: false, isBatchPoint: true }).isWhole).toBe(true);
    },
  );
});
