// The settings of one session, and the accessors that everything else reads them through. Values may change while the session
// runs, so nothing is cached: each access reads anew.

import type { DensityConfig, PassSettings, PlaceholderForm } from '../../shared/density.js';
import type { RuleSetting } from '../../shared/density/rules/density-rule.js';
import { DENSITY_RULES } from '../../shared/density/rules/density-rules.js';
import { getCompressionStrategy } from '../strategies/registry.js';
import type { AgentRuntimeContext, RuntimeEphemerals } from '../strategies/strategy.js';
import type { EphemeralSettings, SettingName } from './ephemeral-settings.js';
import { parseEphemeralSettings, unknownSettingMessage } from './parse-ephemeral-settings.js';
import { SETTING_DEFAULTS, SETTINGS_BY_NAME } from './settings-registry.js';
import type { PlaceholderStyle, SettingKeyWithDefault, SettingSpec } from './settings-registry.js';

/** The host's settings for a session, layered over those of its profile. */
export class Settings {
  #overrides: EphemeralSettings;
  readonly #profile: EphemeralSettings;

  /** @throws as `parseEphemeralSettings` does. */
  constructor(overrides: EphemeralSettings = {}, profile: EphemeralSettings = {}) {
    this.#overrides = parseEphemeralSettings(overrides);
    this.#profile = parseEphemeralSettings(profile);
  }

  /**
   * Returns the value set for the session, else the profile's, else `undefined`: the default applies then.
   *
   * @throws TypeError for an unknown setting.
   */
  get<Name extends SettingName>(name: Name): EphemeralSettings[Name] {
    const { key } = settingNamed(name);
    // An alias has the type of its key.
    return (this.#overrides[key] ?? this.#profile[key]) as EphemeralSettings[Name];
  }

  /**
   * Sets a setting; `undefined` removes the override, so that the profile's value applies again. Takes effect with the next
   * preflight; one that is already running may still use the old value.
   *
   * @throws as `parseEphemeralSettings` does; nothing is changed then.
   */
  set<Name extends SettingName>(name: Name, value: EphemeralSettings[Name]): void {
    const { key } = settingNamed(name);
    const parsed = parseEphemeralSettings({ [name]: value });
    const { [key]: _, ...others } = this.#overrides;
    this.#overrides = { ...others, ...parsed };
  }

  /** Returns a copy of all values set for the session or by its profile, by key. */
  all(): EphemeralSettings {
    return { ...this.#profile, ...this.#overrides };
  }
}

function settingNamed(name: unknown): SettingSpec {
  const spec = SETTINGS_BY_NAME.get(name);
  if (spec === undefined) throw new TypeError(unknownSettingMessage(name));
  return spec;
}

const RULE_SETTINGS: readonly RuleSetting[] = DENSITY_RULES.flatMap(({ settings }) => settings);

/** The accessors of the rules' settings: `densityFileDedupe` reads `compression.density.fileDedupe`. */
type RuleAccessors = Pick<
  RuntimeEphemerals,
  | 'densityReadWritePruning'
  | 'densityFileDedupe'
  | 'densityRecencyPruning'
  | 'densityRecencyRetention'
>;

function ruleAccessors(read: (key: `compression.density.${string}`) => unknown): RuleAccessors {
  const accessors: Record<string, () => unknown> = {};
  for (const { field } of RULE_SETTINGS) {
    accessors[accessorOf(field)] = () => read(`compression.density.${field}`);
  }
  // `EphemeralSettings` gives each key the type that its accessor returns.
  return accessors as unknown as RuleAccessors;
}

/**
 * Returns the pass settings that the rules are set to.
 *
 * @param given the density options the session was created with
 */
export function ruleSettings(
  ephemerals: RuntimeEphemerals,
  given: Partial<DensityConfig>,
): Partial<PassSettings> {
  const settings: Record<string, unknown> = {};
  for (const setting of RULE_SETTINGS) {
    const { field } = setting;
    const set = ephemerals[accessorOf(field)]?.();
    const value =
      setting.type === 'enum'
        ? setting.valueOf(typeof set === 'string' ? set : setting.enumValues[0], given[field])
        : set;
    if (value !== undefined) settings[field] = value;
  }
  return settings;
}

function accessorOf(field: string): `density${string}` {
  return `density${field.charAt(0).toUpperCase()}${field.slice(1)}`;
}

/** Informative placeholders tell how to recall a result only if the session can. */
function placeholderFormOf(style: PlaceholderStyle, canRecall: boolean): PlaceholderForm {
  return style === 'informative' && canRecall ? 'recallable' : style;
}

/** Returns the same accessors with another context limit. */
export function withContextLimit(
  context: AgentRuntimeContext,
  contextLimit: number,
): AgentRuntimeContext {
  return { ...context, ephemerals: { ...context.ephemerals, contextLimit: () => contextLimit } };
}

/**
 * Makes the accessors over a session's settings. Each returns the session's value, else the profile's, else the default; the
 * default threshold is the strategy's.
 *
 * @param contextLimit tokens that the model accepts, or a function that returns them
 * @param canRecall whether removed results can be restored
 * @param ahead share of the window at which summaries are requested in the background, unless set
 */
export function createAgentRuntimeContext(
  settings: Pick<Settings, 'get'>,
  contextLimit: number | (() => number),
  canRecall: boolean = false,
  ahead: number = 1,
): AgentRuntimeContext {
  const reader =
    <Key extends SettingKeyWithDefault>(key: Key) =>
    (): NonNullable<EphemeralSettings[Key]> =>
      settings.get(key) ?? SETTING_DEFAULTS[key];

  const compressionStrategy = reader('compression.strategy');
  const placeholderStyle = reader('compression.density.placeholder');
  return {
    ephemerals: {
      compressionStrategy,
      compressionThreshold: () =>
        settings.get('compression.threshold') ??
        getCompressionStrategy(compressionStrategy()).trigger.defaultThreshold,
      compressionAhead: () => settings.get('compression.ahead') ?? ahead,
      compressionProfile: () => settings.get('compression.profile'),
      contextLimit: typeof contextLimit === 'number' ? () => contextLimit : contextLimit,
      preserveThreshold: reader('compression.preserveThreshold'),
      topPreserveThreshold: reader('compression.topPreserveThreshold'),
      compressionFallback: reader('compression.fallback'),
      fallbackToTruncation: reader('compression.fallbackToTruncation'),
      ...ruleAccessors((key) => reader(key as SettingKeyWithDefault)()),
      densityPlaceholder: () => placeholderFormOf(placeholderStyle(), canRecall),
    },
  };
}
