// The settings as data: what is in the registry, and that it agrees with the types.

import { describe, expect, it } from 'vitest';
import type { SettingKey } from '../../../src/main/settings/ephemeral-settings.js';
import {
  SETTINGS_BY_NAME,
  SETTING_DEFAULTS,
  SETTINGS_REGISTRY,
} from '../../../src/main/settings/settings-registry.js';
import { COMPRESSION_STRATEGIES } from '../../../src/main/strategies/strategy.js';
import { DEFAULT_DENSITY_CONFIG } from '../../../src/shared/density.js';

/** The compiler ensures that every key is here, and nothing else. */
const TYPE_OF: Readonly<Record<SettingKey, string>> = {
  'compression.strategy': 'enum',
  'compression.profile': 'string',
  'compression.threshold': 'number',
  'compression.ahead': 'number',
  'compression.preserveThreshold': 'number',
  'compression.topPreserveThreshold': 'number',
  'compression.fallback': 'enum',
  'compression.fallbackToTruncation': 'boolean',
  'compression.density.readWritePruning': 'boolean',
  'compression.density.fileDedupe': 'boolean',
  'compression.density.recencyPruning': 'boolean',
  'compression.density.recencyRetention': 'number',
  'compression.density.workingSet': 'enum',
  'compression.density.shrink': 'enum',
  'compression.density.placeholder': 'enum',
};

describe('SETTINGS_REGISTRY', () => {
  it('has each setting of EphemeralSettings once, with its type', () => {
    const pairs = SETTINGS_REGISTRY.map(({ key, type }) => [key, type]);
    expect(pairs).toHaveLength(Object.keys(TYPE_OF).length);
    expect(Object.fromEntries(pairs)).toEqual(TYPE_OF);
  });

  it.each([
    {
      key: 'compression.density.readWritePruning',
      category: 'cli-behavior',
      description: 'Enable READ→WRITE pair pruning in high-density strategy',
      type: 'boolean',
      default: true,
      persistToProfile: true,
    },
    {
      key: 'compression.density.fileDedupe',
      category: 'cli-behavior',
      description: 'Enable duplicate @ file inclusion deduplication',
      type: 'boolean',
      default: true,
      persistToProfile: true,
    },
    {
      key: 'compression.density.recencyPruning',
      category: 'cli-behavior',
      description: 'Enable tool result recency pruning (keep last N per tool type)',
      type: 'boolean',
      default: false,
      persistToProfile: true,
    },
    {
      key: 'compression.density.recencyRetention',
      category: 'cli-behavior',
      description: 'Number of recent results to keep per tool type',
      type: 'number',
      default: 3,
      persistToProfile: true,
    },
  ])('specifies $key as documented', (spec) => {
    expect(SETTINGS_REGISTRY.filter(({ key }) => key === spec.key)).toStrictEqual([spec]);
  });

  it('offers every existing strategy', () => {
    expect(SETTINGS_BY_NAME.get('compression.strategy')).toMatchObject({
      enumValues: [...COMPRESSION_STRATEGIES, 'provider'],
      default: 'high-density',
    });
    expect(COMPRESSION_STRATEGIES).toContain('high-density');
  });

  it('persists every setting to the profile, and describes it in a line', () => {
    for (const { category, persistToProfile, description } of SETTINGS_REGISTRY) {
      expect({ category, persistToProfile }).toEqual({
        category: 'cli-behavior',
        persistToProfile: true,
      });
      expect(description).toMatch(/^[^\n]{10,80}$/);
    }
  });
});

describe('SETTING_DEFAULTS', () => {
  it('has a default for every setting except those that default to something else', () => {
    const { 'compression.strategy': strategy, ...others } = SETTING_DEFAULTS;
    expect(strategy).toBe('high-density');
    expect(others).toEqual({
      'compression.profile': undefined,
      'compression.threshold': undefined,
      'compression.ahead': undefined,
      'compression.preserveThreshold': 0.2,
      'compression.topPreserveThreshold': 0.2,
      'compression.fallback': 'high-density',
      'compression.fallbackToTruncation': false,
      'compression.density.readWritePruning': true,
      'compression.density.fileDedupe': true,
      'compression.density.recencyPruning': false,
      'compression.density.recencyRetention': 3,
      'compression.density.workingSet': 'preset',
      'compression.density.shrink': 'preset',
      'compression.density.placeholder': 'pointer',
    });
  });

  it('agrees with the defaults of the density pass', () => {
    for (const [name, value] of Object.entries(DEFAULT_DENSITY_CONFIG)) {
      expect(SETTINGS_BY_NAME.get(`compression.density.${name}`)?.default).toBe(value);
    }
  });
});

describe('SETTINGS_BY_NAME', () => {
  it('finds a setting by its alias', () => {
    expect(SETTINGS_BY_NAME.get('compression-threshold')).toBe(
      SETTINGS_BY_NAME.get('compression.threshold'),
    );
  });

  it.each(['', 'compression', 'toString', '__proto__', 'context-limit', undefined])(
    'finds no setting named %j',
    (name) => {
      expect(SETTINGS_BY_NAME.get(name)).toBeUndefined();
    },
  );
});
