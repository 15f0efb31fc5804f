// The accessors: where each value comes from, and that a change takes effect at once.

import { describe, expect, it } from 'vitest';
import type { EphemeralSettings } from '../../../src/main/settings/ephemeral-settings.js';
import {
  createAgentRuntimeContext,
  withContextLimit,
} from '../../../src/main/settings/session-config.js';
import { Settings } from '../../../src/main/settings/settings.js';
import { getCompressionStrategy } from '../../../src/main/strategies/registry.js';
import { COMPRESSION_STRATEGIES } from '../../../src/main/strategies/strategy.js';
import type { RuntimeEphemerals } from '../../../src/main/strategies/strategy.js';

function ephemeralsOf(
  overrides: EphemeralSettings = {},
  profile: EphemeralSettings = {},
): RuntimeEphemerals {
  return createAgentRuntimeContext(new Settings(overrides, profile), 1_000).ephemerals;
}

function valuesOf(ephemerals: RuntimeEphemerals): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(ephemerals).map(([name, read]) => [name, (read as () => unknown)()]),
  );
}

describe('createAgentRuntimeContext', () => {
  it('gives the defaults when nothing is set', () => {
    expect(valuesOf(ephemeralsOf())).toStrictEqual({
      compressionStrategy: 'high-density',
      compressionThreshold: 0.85,
      compressionAhead: 1,
      compressionProfile: undefined,
      contextLimit: 1_000,
      preserveThreshold: 0.2,
      topPreserveThreshold: 0.2,
      compressionFallback: 'high-density',
      fallbackToTruncation: false,
      densityReadWritePruning: true,
      densityFileDedupe: true,
      densityRecencyPruning: false,
      densityRecencyRetention: 3,
      densityWorkingSet: 'preset',
      densityShrink: 'preset',
      densityPlaceholder: 'pointer',
    });
  });

  it.each([
    ['set for the session', (settings: EphemeralSettings) => ephemeralsOf(settings)],
    ['in the profile', (settings: EphemeralSettings) => ephemeralsOf({}, settings)],
  ])('gives what is %s', (_, from) => {
    const ephemerals = from({
      'compression.strategy': 'high-density',
      'compression.profile': 'cheap',
      'compression.threshold': 0.5,
      'compression.ahead': 0.4,
      'compression.preserveThreshold': 0,
      'compression.topPreserveThreshold': 1,
      'compression.fallback': 'one-shot',
      'compression.fallbackToTruncation': true,
      'compression.density.readWritePruning': false,
      'compression.density.fileDedupe': false,
      'compression.density.recencyPruning': true,
      'compression.density.recencyRetention': 0,
      'compression.density.workingSet': 'off',
      'compression.density.shrink': 'off',
      'compression.density.placeholder': 'informative',
    });
    expect(valuesOf(ephemerals)).toStrictEqual({
      compressionStrategy: 'high-density',
      compressionThreshold: 0.5,
      compressionAhead: 0.4,
      compressionProfile: 'cheap',
      contextLimit: 1_000,
      preserveThreshold: 0,
      topPreserveThreshold: 1,
      compressionFallback: 'one-shot',
      fallbackToTruncation: true,
      densityReadWritePruning: false,
      densityFileDedupe: false,
      densityRecencyPruning: true,
      densityRecencyRetention: 0,
      densityWorkingSet: 'off',
      densityShrink: 'off',
      densityPlaceholder: 'informative',
    });
  });

  it.each`
    ephemeral    | profile      | threshold
    ${undefined} | ${undefined} | ${0.85}
    ${undefined} | ${0.6}       | ${0.6}
    ${0.5}       | ${undefined} | ${0.5}
    ${0.5}       | ${0.6}       | ${0.5}
    ${1}         | ${0.6}       | ${1}
  `(
    'has the threshold $threshold for $ephemeral over $profile',
    (row: { ephemeral?: number; profile?: number; threshold: number }) => {
      const overrides = { 'compression.threshold': row.ephemeral };
      const profile = { 'compression-threshold': row.profile };
      expect(ephemeralsOf(overrides, profile).compressionThreshold()).toBe(row.threshold);
    },
  );

  it.each(COMPRESSION_STRATEGIES)('has the threshold of %s when none is set', (name) => {
    expect(ephemeralsOf({ 'compression.strategy': name }).compressionThreshold()).toBe(
      getCompressionStrategy(name).trigger.defaultThreshold,
    );
  });

  it('says how to recall removed results only where that is possible', () => {
    const settings = new Settings({ 'compression.density.placeholder': 'informative' });
    const { ephemerals } = createAgentRuntimeContext(settings, 1_000, true);
    expect(ephemerals.densityPlaceholder?.()).toBe('recallable');
    settings.set('compression.density.placeholder', 'pointer');
    expect(ephemerals.densityPlaceholder?.()).toBe('pointer');
  });

  it('sees a change at once, and its reversal', () => {
    const settings = new Settings({}, { 'compression.threshold': 0.6 });
    const { ephemerals } = createAgentRuntimeContext(settings, 1_000);
    settings.set('compression-threshold', 0.5);
    settings.set('compression.density.recencyPruning', true);
    expect(ephemerals.compressionThreshold()).toBe(0.5);
    expect(ephemerals.densityRecencyPruning()).toBe(true);
    settings.set('compression.threshold', undefined);
    settings.set('compression.density.recencyPruning', undefined);
    expect(ephemerals.compressionThreshold()).toBe(0.6);
    expect(ephemerals.densityRecencyPruning()).toBe(false);
  });
});

describe('withContextLimit', () => {
  it('changes the context limit and nothing else, and sees settings change', () => {
    const settings = new Settings({});
    const context = createAgentRuntimeContext(settings, 1_000);
    const { ephemerals } = withContextLimit(context, 640);
    expect(valuesOf(ephemerals)).toStrictEqual({
      ...valuesOf(context.ephemerals),
      contextLimit: 640,
    });
    settings.set('compression.threshold', 0.5);
    expect(ephemerals.compressionThreshold()).toBe(0.5);
    expect(context.ephemerals.contextLimit()).toBe(1_000);
  });
});
