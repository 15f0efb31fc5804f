// The config derived from settings is cached while they stay, and never out of date: a change takes effect in the next preflight.

import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import type { OffloadMode } from '../../../src/main/offload/offload.js';
import { modelPrice } from '../../../src/main/models/model-prices.js';
import { SessionModel } from '../../../src/main/models/session-model.js';
import { completeEditOptions } from '../../../src/main/preflight/edit-options.js';
import {
  createAgentRuntimeContext,
  SessionConfig,
} from '../../../src/main/settings/session-config.js';
import { Settings } from '../../../src/main/settings/settings.js';
import { getCompressionStrategy } from '../../../src/main/strategies/registry.js';
import { DEFAULT_DENSITY_CONFIG } from '../../../src/shared/density.js';
import { DEFAULT_WORKING_SET } from '../../../src/shared/density/rules/working-set-rules.js';
import { historyOf } from '../../support/notation.js';

interface Bench {
  readonly config: SessionConfig;
  readonly settings: Settings;
  /** The history of the session. */
  readonly history: { modelName: string | undefined };
}

function openBench(edits: 'auto' | 'every-turn' = 'auto', profile = {}): Bench {
  const settings = new Settings({}, profile);
  const history: Bench['history'] = { modelName: undefined };
  const model = new SessionModel({
    priceOf: (name) => (name === undefined ? undefined : modelPrice(name)),
  });
  model.follow(history);
  const config = new SessionConfig({
    settings,
    runtimeContext: createAgentRuntimeContext(settings, 1_000, true),
    densityOptions: { workspaceRoot: '/w', workingSet: DEFAULT_WORKING_SET, shrink: 'default' },
    edits: completeEditOptions({ edits }),
    model,
    resolveStrategy: getCompressionStrategy,
  });
  return { config, settings, history };
}

describe('SessionConfig', () => {
  it('is the same object until a setting is changed, and cannot be changed itself', () => {
    const { config, settings } = openBench();
    const first = config.density();
    expect(first).toMatchObject({ ...DEFAULT_DENSITY_CONFIG, placeholder: 'pointer' });
    expect(config.density()).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
    settings.set('compression.density.recencyPruning', true);
    settings.set('compression.density.recencyRetention', 1);
    settings.set('compression.density.fileDedupe', false);
    settings.set('compression.density.placeholder', 'informative');
    settings.set('compression.density.shrink', 'strong');
    settings.set('compression.density.workingSet', 'off');
    const { workingSet: _, ...rest } = first;
    expect(config.density()).toEqual({
      ...rest,
      recencyPruning: true,
      recencyRetention: 1,
      fileDedupe: false,
      placeholder: 'recallable',
      shrink: 'strong',
    });
    for (const key of Object.keys(settings.all())) settings.set(key as never, undefined as never);
    expect(config.density()).toEqual(first);
  });

  it('follows the model named last', () => {
    const { config, history } = openBench();
    const paybackOf = (name: string | undefined): number | undefined => {
      history.modelName = name;
      return config.density().workingSet?.paybackCalls;
    };
    const unknown = paybackOf(undefined);
    const dear = paybackOf('claude-opus-5-5');
    expect(dear).toBeLessThan(unknown ?? 0);
    expect([paybackOf('unheard-of'), paybackOf('claude-opus-5-5')]).toEqual([unknown, dear]);
    const kept = config.density();
    history.modelName = 'anthropic/claude-opus-5-5';
    expect(config.density()).toBe(kept);
  });

  it('lets everything be removed if edits are free, under policies that weigh cost', () => {
    const { config, settings } = openBench();
    expect(config.density(true).workingSet).toMatchObject({ paybackCalls: Infinity });
    settings.set('compression.density.workingSet', 'off');
    expect(config.density(true)).toBe(config.density());
    const everyTurn = openBench('every-turn').config;
    expect(everyTurn.density(true)).toBe(everyTurn.density());
  });

  it('names the strategy set for the session or by its profile', () => {
    const { config, settings } = openBench('auto', { 'compression.strategy': 'one-shot' });
    const names = [config.strategy.name];
    settings.set('compression.strategy', 'middle-out');
    names.push(config.strategy.name);
    settings.set('compression.strategy', undefined);
    expect([...names, config.strategy.name]).toEqual(['one-shot', 'middle-out', 'one-shot']);
  });
});

/** Two results of one tool, and a read of a file that is written later. */
const RESULTS = historyOf('h a:s1 t:s1 a:s2 t:s2 h');
const STALE = historyOf('a:r3 t:r3 a:w4 t:w4 h');

describe('Session', () => {
  it.each<OffloadMode>(['inline', 'snapshot', 'resident'])(
    'uses a changed setting in the very next preflight (%s)',
    async (offload) => {
      await using compactor = createCompactor({ offload, threads: 1, tokenizer: 'estimate' });
      const session = await compactor.createSession({ edits: 'every-turn' });
      const { settings, history } = session;
      settings.set('compression.density.readWritePruning', false);
      settings.set('compression.density.workingSet', 'off');
      const prune = async (): Promise<readonly string[]> => {
        const { pruned } = await session.ensureCompressionBeforeSend('p');
        return [...new Set((pruned?.edits ?? []).map(({ rule }) => rule))];
      };
      history.addAll(RESULTS);
      expect(await prune()).toEqual([]);
      settings.set('compression.density.recencyPruning', true);
      settings.set('compression.density.recencyRetention', 1);
      history.addAll(STALE);
      expect(await prune()).toEqual(['recency']);
      settings.set('compression.density.readWritePruning', undefined);
      history.addAll(historyOf('a h'));
      expect(await prune()).toEqual(['read-write']);
    },
  );

  it('uses another strategy in the very next preflight', async () => {
    const options = { offload: 'inline', tokenizer: 'estimate' } as const;
    await using compactor = createCompactor({ ...options, preset: 'specification' });
    const session = await compactor.createSession();
    const prune = async (): Promise<unknown> => {
      const { pruned } = await session.ensureCompressionBeforeSend('p');
      return pruned && [...new Set(pruned.edits.map(({ rule }) => rule))];
    };
    session.settings.set('compression.strategy', 'top-down-truncation');
    session.history.addAll(STALE);
    expect(await prune()).toBeNull();
    session.settings.set('compression.strategy', 'high-density');
    session.history.addAll(historyOf('a h'));
    expect(await prune()).toEqual(['read-write']);
  });

  it.each(['middle-out', 'one-shot', 'top-down-truncation'] as const)(
    'prunes with %s as well, except as the specification defines it',
    async (strategy) => {
      const settings = { 'compression.strategy': strategy };
      const pruned = async (preset?: 'specification'): Promise<unknown> => {
        const options = { offload: 'inline', tokenizer: 'estimate', settings, preset } as const;
        await using compactor = createCompactor(options);
        const session = await compactor.createSession({ edits: 'every-turn' });
        session.history.addAll(STALE);
        const result = await session.ensureCompressionBeforeSend('p');
        return result.pruned?.edits.map(({ rule }) => rule);
      };
      expect(await pruned()).toEqual(['read-write', 'read-write']);
      expect(await pruned('specification')).toBeUndefined();
    },
  );
});
