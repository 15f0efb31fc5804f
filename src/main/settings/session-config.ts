// The configuration of one session, and what is derived from it: the accessors for strategies, the chosen strategy, and the
// configuration of density passes. Settings may change while the session runs; derived values are cached until they do.

import { DEFAULT_DENSITY_CONFIG } from '../../shared/density.js';
import type { DensityConfig, PassSettings } from '../../shared/density.js';
import { DENSITY_RULES } from '../../shared/density/rules/density-rules.js';
import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import { withColdCache } from '../../shared/density/rules/working-set-rules.js';
import { atPrices } from '../../shared/density/rules/rewrite-price.js';
import type { SessionModel } from '../models/session-model.js';
import type { CompleteEditOptions } from '../preflight/edit-options.js';
import { STRATEGIES } from '../strategies/registry.js';
import type {
  AgentRuntimeContext,
  CompressionStrategy,
  CompressionStrategyName,
} from '../strategies/strategy.js';
import type { EphemeralSettings } from './ephemeral-settings.js';
import { SETTING_DEFAULTS } from './settings-registry.js';
import type { SettingKeyWithDefault } from './settings-registry.js';
import type { Settings } from './settings.js';

/** The part of `DensityConfig` that comes from the agent rather than from settings. */
export type DensityOptions = Pick<
  DensityConfig,
  | 'workspaceRoot'
  | 'toolCatalog'
  | 'inclusionSyntaxes'
  | 'partialWritesSupersede'
  | 'workingSet'
  | 'shrink'
>;

interface SessionConfigInit extends Pick<
  SessionConfig,
  'settings' | 'runtimeContext' | 'densityOptions' | 'edits' | 'model' | 'resolveStrategy'
> {
  /** @default false */
  readonly isForAgents?: boolean | undefined;
}

/** The configurations of a density pass: one weighs the cost of losing the prompt cache, the other ignores it. */
interface PassConfigs {
  readonly weighingCache: DensityConfig;
  readonly ignoringCache: DensityConfig;
}

/** The strategy and the density configuration of a session, by its current settings. */
export class SessionConfig {
  readonly settings: Settings;
  /** The accessors that read `settings`. */
  readonly runtimeContext: AgentRuntimeContext;
  readonly densityOptions: DensityOptions;
  readonly edits: CompleteEditOptions;
  /** The model that the session talks to. */
  readonly model: SessionModel;
  readonly resolveStrategy: (name: CompressionStrategyName) => CompressionStrategy;
  /**
   * Whether a session does what the specification lacks: the pass of `high-density` also runs beside a strategy that does not prune,
   * a compaction leaves a note of the requests and work in the entries it removes, and over the limit another strategy stands in
   * for a model that fails.
   */
  readonly isForAgents: boolean;
  #strategy: { readonly name: string; readonly is: CompressionStrategy } | undefined;
  #passes:
    (PassConfigs & { readonly from: EphemeralSettings; readonly at: CachePrices }) | undefined;

  constructor(init: SessionConfigInit) {
    this.settings = init.settings;
    this.runtimeContext = init.runtimeContext;
    this.densityOptions = init.densityOptions;
    this.edits = init.edits;
    this.model = init.model;
    this.resolveStrategy = init.resolveStrategy;
    this.isForAgents = init.isForAgents === true;
  }

  /** The strategy that the settings name. */
  get strategy(): CompressionStrategy {
    const name = this.runtimeContext.ephemerals.compressionStrategy();
    if (this.#strategy?.name !== name) this.#strategy = { name, is: this.resolveStrategy(name) };
    return this.#strategy.is;
  }

  /** The strategy whose `optimize`, if it has one, runs before each send: the chosen strategy, or `high-density` beside it. */
  get pruning(): CompressionStrategy {
    const { strategy } = this;
    const isJoined = this.isForAgents && strategy.optimize === undefined;
    return isJoined ? this.resolveStrategy('high-density') : strategy;
  }

  /**
   * Returns the configuration of the next density pass: the same object until something in it changes.
   *
   * @param ignoresCacheCost whether the prompt cache is cold or will be lost anyway. Policies that weigh cost then remove everything stale.
   */
  density(ignoresCacheCost: boolean = false): DensityConfig {
    const from = this.settings.current;
    const at = this.model.cache.prices;
    let kept = this.#passes;
    if (kept?.from !== from || kept.at !== at) {
      kept = this.#passes = { ...this.#passesOf(from, at), from, at };
    }
    return ignoresCacheCost ? kept.ignoringCache : kept.weighingCache;
  }

  #passesOf(settings: EphemeralSettings, prices: CachePrices): PassConfigs {
    const { densityOptions, runtimeContext } = this;
    const { workingSet: _, shrink: __, ...agent } = densityOptions;
    const placeholder = runtimeContext.ephemerals.densityPlaceholder?.() ?? 'pointer';
    const rules = ruleSettings(settings, densityOptions);
    const config = { ...DEFAULT_DENSITY_CONFIG, ...agent, ...rules, placeholder };
    const withRules = (workingSet: DensityConfig['workingSet']): DensityConfig =>
      Object.freeze(workingSet === undefined ? config : { ...config, workingSet });
    const { workingSet } = config;
    const weighingCache = withRules(workingSet && atPrices(workingSet, prices));
    const isSameEitherWay = workingSet === undefined || this.edits.edits === 'every-turn';
    return {
      weighingCache,
      ignoringCache: isSameEitherWay ? weighingCache : withRules(withColdCache(workingSet)),
    };
  }
}

/**
 * Returns the fields of the pass configuration that the settings of the density rules determine.
 *
 * @param given the density options that the session was created with, which a setting of `preset` selects
 */
function ruleSettings(
  settings: EphemeralSettings,
  given: Partial<DensityConfig>,
): Partial<PassSettings> {
  const fields: Record<string, unknown> = {};
  for (const setting of DENSITY_RULES.flatMap((rule) => rule.settings)) {
    const { field } = setting;
    const set = valueOf(settings, `compression.density.${field}` as SettingKeyWithDefault);
    const value = setting.type === 'enum' ? setting.valueOf(String(set), given[field]) : set;
    if (value !== undefined) fields[field] = value;
  }
  return fields;
}

function valueOf<Key extends SettingKeyWithDefault>(
  settings: EphemeralSettings,
  key: Key,
): NonNullable<EphemeralSettings[Key]> {
  return settings[key] ?? SETTING_DEFAULTS[key];
}

/** Returns the same accessors with another context limit. */
export function withContextLimit(
  context: AgentRuntimeContext,
  contextLimit: number,
): AgentRuntimeContext {
  return { ...context, ephemerals: { ...context.ephemerals, contextLimit: () => contextLimit } };
}

/**
 * Creates the accessors that read a session's settings. Each returns the session's value, else the profile's, else the default;
 * the default threshold is the strategy's.
 *
 * @param contextLimit tokens that the model accepts, or a function that returns them
 * @param canRecall whether removed results can be restored
 * @param ahead default share of the window at which summaries are requested in the background
 */
export function createAgentRuntimeContext(
  settings: Settings,
  contextLimit: number | (() => number),
  canRecall: boolean = false,
  ahead: number = 1,
): AgentRuntimeContext {
  const reader =
    <Key extends SettingKeyWithDefault>(key: Key) =>
    (): NonNullable<EphemeralSettings[Key]> =>
      valueOf(settings.current, key);

  const compressionStrategy = reader('compression.strategy');
  const placeholderStyle = reader('compression.density.placeholder');
  return {
    ephemerals: {
      compressionStrategy,
      compressionThreshold: () =>
        settings.current['compression.threshold'] ??
        STRATEGIES[compressionStrategy()].trigger.defaultThreshold,
      compressionAhead: () => settings.current['compression.ahead'] ?? ahead,
      compressionProfile: () => settings.current['compression.profile'],
      contextLimit: typeof contextLimit === 'number' ? () => contextLimit : contextLimit,
      preserveThreshold: reader('compression.preserveThreshold'),
      topPreserveThreshold: reader('compression.topPreserveThreshold'),
      compressionFallback: reader('compression.fallback'),
      fallbackToTruncation: reader('compression.fallbackToTruncation'),
      densityReadWritePruning: reader('compression.density.readWritePruning'),
      densityFileDedupe: reader('compression.density.fileDedupe'),
      densityRecencyPruning: reader('compression.density.recencyPruning'),
      densityRecencyRetention: reader('compression.density.recencyRetention'),
      densityWorkingSet: reader('compression.density.workingSet'),
      densityShrink: reader('compression.density.shrink'),
      // Placeholders explain how to recall a result only if the session supports recall.
      densityPlaceholder: () =>
        placeholderStyle() === 'informative' && canRecall ? 'recallable' : placeholderStyle(),
    },
  };
}
