// All settings as data: validation, defaults and user-facing lists read them from here.

import { DEFAULT_DENSITY_CONFIG } from '../../shared/density.js';
import type { RuleSetting } from '../../shared/density/rules/density-rule.js';
import { DENSITY_RULES } from '../../shared/density/rules/density-rules.js';
import type { WorkingSetChoice } from '../../shared/density/rules/working-set.js';
import { COMPRESSION_STRATEGIES } from '../strategies/strategy.js';
import type { CompressionStrategyName, OwnStrategyName } from '../strategies/strategy.js';
import type {
  EphemeralSettings,
  SettingAlias,
  SettingKey,
  PlaceholderStyle,
} from './ephemeral-settings.js';

/** The settings whose value has exactly this type. */
type KeyOf<Value> = {
  [Key in SettingKey]: [NonNullable<EphemeralSettings[Key]>, Value] extends [
    Value,
    NonNullable<EphemeralSettings[Key]>,
  ]
    ? Key
    : never;
}[SettingKey];

interface CommonSettingSpec {
  /** The specification's term for session settings; unrelated to a command line. */
  readonly category: 'cli-behavior';
  /** One line for users. */
  readonly description: string;
  /** Whether `saveProfile` writes it. */
  readonly persistToProfile: boolean;
  /** Other accepted names. */
  readonly aliases?: readonly SettingAlias[];
}

export interface BooleanSettingSpec extends CommonSettingSpec {
  readonly key: KeyOf<boolean>;
  readonly type: 'boolean';
  readonly default: boolean;
}

/** A finite number. Without a `default`, the description says what applies. */
export interface NumberSettingSpec extends CommonSettingSpec {
  readonly key: KeyOf<number>;
  readonly type: 'number';
  readonly default?: number;
  readonly min?: number;
  readonly exclusiveMin?: number;
  readonly max?: number;
}

/** A non-empty string. Without a `default`, the description says what applies. */
export interface StringSettingSpec extends CommonSettingSpec {
  readonly key: KeyOf<string>;
  readonly type: 'string';
  readonly default?: string;
}

interface EnumSettingSpecOf<Value extends string> extends CommonSettingSpec {
  readonly key: KeyOf<Value>;
  readonly type: 'enum';
  readonly enumValues: readonly Value[];
  readonly default: Value;
}

/** One of a fixed set of words. */
export type EnumSettingSpec =
  | EnumSettingSpecOf<CompressionStrategyName>
  | EnumSettingSpecOf<OwnStrategyName>
  | EnumSettingSpecOf<PlaceholderStyle>
  | EnumSettingSpecOf<WorkingSetChoice>;

/** Everything that is known about one setting. */
export type SettingSpec =
  BooleanSettingSpec | NumberSettingSpec | StringSettingSpec | EnumSettingSpec;

const COMMON = { category: 'cli-behavior', persistToProfile: true } as const;
const SHARE = { ...COMMON, type: 'number', max: 1 } as const;

/** The setting of a pruning rule. The default is that of a pass, or the first word. */
function specOf(setting: RuleSetting): SettingSpec {
  const { field, description, type } = setting;
  const kind =
    type === 'enum'
      ? { type, enumValues: setting.enumValues, default: setting.enumValues[0] }
      : { type, default: DEFAULT_DENSITY_CONFIG[field] };
  const key = `compression.density.${field}`;
  // `EphemeralSettings` spells out the types, for its readers.
  return { ...COMMON, key, description, ...kind } as SettingSpec;
}

/** All settings. */
export const SETTINGS_REGISTRY: readonly SettingSpec[] = [
  {
    key: 'compression.strategy',
    ...COMMON,
    description: 'How a history that reaches the threshold is made smaller',
    type: 'enum',
    enumValues: [...COMPRESSION_STRATEGIES, 'provider'],
    default: 'high-density',
  },
  {
    key: 'compression.profile',
    ...COMMON,
    description: "Name of the model profile that writes summaries (default: the session's model)",
    type: 'string',
  },
  {
    key: 'compression.threshold',
    aliases: ['compression-threshold'],
    ...SHARE,
    description: "Share of the context window at which to compress (default: the strategy's own)",
    exclusiveMin: 0,
  },
  {
    key: 'compression.ahead',
    ...SHARE,
    description: 'Share of the window at which a summary is made in the background (1: never)',
    exclusiveMin: 0,
  },
  {
    key: 'compression.preserveThreshold',
    ...SHARE,
    description: 'Share of the entries, from the end, that a compression leaves alone',
    default: 0.2,
    min: 0,
  },
  {
    key: 'compression.topPreserveThreshold',
    ...SHARE,
    description: 'Share of the entries, from the start, that middle-out leaves alone',
    default: 0.2,
    min: 0,
  },
  {
    key: 'compression.fallback',
    ...COMMON,
    description: 'What compresses where the provider fails, or a model at a full window',
    type: 'enum',
    enumValues: [...COMPRESSION_STRATEGIES],
    default: 'high-density',
  },
  {
    key: 'compression.fallbackToTruncation',
    ...COMMON,
    description: 'Drop the oldest entries when a summary fails, instead of failing',
    type: 'boolean',
    default: false,
  },
  ...DENSITY_RULES.flatMap(({ settings }) => settings.map(specOf)),
  {
    key: 'compression.density.placeholder',
    ...COMMON,
    description: 'What stands in place of a result: a fixed string, or a line about it with its id',
    type: 'enum',
    enumValues: ['pointer', 'informative'],
    default: 'pointer',
  },
];

/** All settings by key and by alias. */
export const SETTINGS_BY_NAME: ReadonlyMap<unknown, SettingSpec> = new Map(
  SETTINGS_REGISTRY.flatMap((spec) =>
    [spec.key, ...(spec.aliases ?? [])].map((name) => [name, spec] as const),
  ),
);

export const SETTING_KEYS: readonly string[] = SETTINGS_REGISTRY.map(({ key }) => key);

/** The settings that always have a value. */
export type SettingKeyWithDefault = Exclude<
  SettingKey,
  'compression.threshold' | 'compression.ahead' | 'compression.profile'
>;

/** The default of each setting that has one. */
export const SETTING_DEFAULTS: {
  readonly [Key in SettingKeyWithDefault]: NonNullable<EphemeralSettings[Key]>;
} = Object.fromEntries(
  SETTINGS_REGISTRY.map((spec) => [spec.key, spec.default]),
) as typeof SETTING_DEFAULTS;
