// Sessions with a working set: which rules apply, and when a change takes effect. Threads do the same: `three-ways.test.ts`.

import { createCompactor } from 'ctxfold';
import {
  AGGRESSIVE_WORKING_SET,
  applyDensityResult,
  DEFAULT_DENSITY_CONFIG,
  DEFAULT_WORKING_SET,
  optimize,
} from 'ctxfold/density';
import type { Compactor, IContent } from 'ctxfold';
import type { WorkingSetRules } from 'ctxfold/density';
import { afterAll, describe, expect, it } from 'vitest';
import { WORKING_TOOLS } from '../support/arbitrary-working-history.js';
import { workingHistory } from '../support/working-notation.js';

const CHOICES = ['preset', 'off', 'default', 'aggressive'] as const;
type WorkingSetChoice = (typeof CHOICES)[number];

/** Removes only outputs, and at once. */
const RULES: WorkingSetRules = {
  ...DEFAULT_WORKING_SET,
  ...{ readCalls: Infinity, searchCalls: Infinity, outputCalls: 0 },
  ...{ paybackCalls: Infinity, freeTokens: 0 },
};

/** The rules that a setting stands for. */
function rulesOf(
  choice: WorkingSetChoice,
  preset: WorkingSetRules | undefined,
): WorkingSetRules | undefined {
  if (choice === 'preset') return preset;
  if (choice === 'off') return undefined;
  return choice === 'default' ? DEFAULT_WORKING_SET : AGGRESSIVE_WORKING_SET;
}

/** Long enough that each setting finds something different. */
const HISTORY = workingHistory(
  Array.from(
    { length: 60 },
    (_, at) => `run(make_${at}) lines(f${at % 7}.ts:${at}-${at + 9}) search(${at})`,
  ).join(' '),
);

const compactors: Compactor[] = [];
afterAll(() => Promise.all(compactors.map((compactor) => compactor.close())));

function compactorOf(): Compactor {
  const compactor = createCompactor({
    preset: 'specification',
    ...{ offload: 'inline', contextLimit: 10_000_000, workspaceRoot: '/work' },
    settings: { 'compression.strategy': 'high-density' },
  });
  compactors.push(compactor);
  return compactor;
}

function expectedOf(
  history: readonly IContent[],
  choice: WorkingSetChoice,
  preset: WorkingSetRules | undefined,
): readonly IContent[] {
  const workingSet = rulesOf(choice, preset);
  const compacted = [...history];
  const config = {
    ...DEFAULT_DENSITY_CONFIG,
    ...{ workspaceRoot: '/work', toolCatalog: WORKING_TOOLS },
    ...(workingSet !== undefined && { workingSet }),
  };
  applyDensityResult(compacted, optimize(history, config));
  return compacted;
}

describe('compression.density.workingSet', () => {
  it.each(CHOICES)('of %s takes effect in a session', async (choice) => {
    const compactor = compactorOf();
    for (const preset of [RULES, undefined]) {
      const session = await compactor.createSession({
        edits: 'every-turn',
        density: {
          toolCatalog: WORKING_TOOLS,
          ...(preset !== undefined && { workingSet: preset }),
        },
        history: HISTORY,
      });
      session.settings.set('compression.density.workingSet', choice);
      await session.ensureCompressionBeforeSend('p', 0);
      expect(session.history.getAll()).toEqual(expectedOf(HISTORY, choice, preset));
      await session.close();
    }
  });

  it('takes effect from the next window on when it changes', async () => {
    const compactor = compactorOf();
    const session = await compactor.createSession({
      edits: 'every-turn',
      density: { toolCatalog: WORKING_TOOLS, workingSet: RULES },
      history: HISTORY.slice(0, 100),
    });
    let expected: readonly IContent[] = HISTORY.slice(0, 100);
    let at = 100;
    const choices: readonly WorkingSetChoice[] = [
      'off',
      'preset',
      'off',
      'aggressive',
      'default',
      'preset',
    ];
    for (const choice of choices) {
      session.settings.set('compression.density.workingSet', choice);
      const added = HISTORY.slice(at, at + 20);
      at += 20;
      session.history.addAll(added);
      await session.ensureCompressionBeforeSend('p', 0);
      expected = expectedOf([...expected, ...added], choice, RULES);
      expect(session.history.getAll()).toEqual(expected);
    }
    await session.close();
  });
});

describe('SessionOptions.density.workingSet', () => {
  it('is refused when it is invalid, before anything is created', async () => {
    const compactor = compactorOf();
    for (const name of Object.keys(RULES)) {
      for (const rule of [undefined, NaN, -1, '5']) {
        const workingSet = { ...RULES, [name]: rule };
        await expect(compactor.createSession({ density: { workingSet } })).rejects.toThrow(
          RangeError,
        );
      }
      if (name === 'earlyShare') continue;
      const workingSet = { ...RULES, [name]: Infinity };
      const session = await compactor.createSession({
        edits: 'every-turn',
        density: { workingSet },
        history: HISTORY,
      });
      await session.ensureCompressionBeforeSend('p', 0);
      await session.close();
    }
  });
});
