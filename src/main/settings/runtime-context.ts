// The accessors through which everything else reads settings. Each call reads anew, as settings may
// change between turns.

import { getCompressionStrategy } from '../strategies/registry.js';
import type { AgentRuntimeContext } from '../strategies/strategy.js';
import { placeholderFormOf, ruleAccessors } from './density-settings.js';
import type { EphemeralSettings } from './ephemeral-settings.js';
import { SETTING_DEFAULTS } from './settings-registry.js';
import type { SettingKeyWithDefault } from './settings-registry.js';
import type { Settings } from './settings.js';

/** The same accessors, but for the context limit. */
export function withContextLimit(
  context: AgentRuntimeContext,
  contextLimit: number,
): AgentRuntimeContext {
  return { ...context, ephemerals: { ...context.ephemerals, contextLimit: () => contextLimit } };
}

/**
 * Makes the accessors over a session's settings. Every one of them gives what is set for the session,
 * else what the profile says, else the default; that of the threshold is the strategy's own.
 *
 * @param contextLimit tokens that the model accepts, or what returns them
 * @param canRecall whether what is taken away can be got back
 * @param ahead where nothing is set, the share of the window at which summaries are asked for in the background
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
