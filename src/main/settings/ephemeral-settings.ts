// The settings that a host can give, by key. Types only: settings-registry.ts has their defaults and
// bounds, parse-ephemeral-settings.ts checks them.

import type { CompressionStrategyName, OwnStrategyName } from '../strategies/strategy.js';
import type { PlaceholderStyle } from './density-settings.js';
import type { ShrinkChoice } from '../../shared/density/rules/shrink.js';
import type { WorkingSetChoice } from '../../shared/density/rules/working-set.js';

/** Settings by key, all optional: what is not given falls back to the profile, then to its default. */
export interface EphemeralSettings {
  /** @default 'high-density' */
  readonly 'compression.strategy'?: CompressionStrategyName | undefined;
  /**
   * Names the model profile that writes summaries, for whoever provides the model; ctxfold gives the
   * name on and does not read it. @default the model of the session
   */
  readonly 'compression.profile'?: string | undefined;
  /** Share of the context window at which to compress, in (0, 1]. @default the strategy's own */
  readonly 'compression.threshold'?: number | undefined;
  /** Another name of `compression.threshold`. Both together must be equal. */
  readonly 'compression-threshold'?: number | undefined;
  /**
   * Share of the context window at which a model is asked for a summary in the background, in (0, 1]: it lands at a later window,
   * with what came in meanwhile behind it, so that no turn waits for it unless the window is full. 1: never; then turns wait.
   * @default 0.7, and 1 with the preset `specification`
   */
  readonly 'compression.ahead'?: number | undefined;
  /** Share of the entries, from the end, that a compression leaves alone, in [0, 1]. @default 0.2 */
  readonly 'compression.preserveThreshold'?: number | undefined;
  /** Share of the entries, from the start, that middle-out leaves alone, in [0, 1]. @default 0.2 */
  readonly 'compression.topPreserveThreshold'?: number | undefined;
  /** What takes the place of `provider` where the provider refuses to compact, or nobody can ask it. @default 'high-density' */
  readonly 'compression.fallback'?: OwnStrategyName | undefined;
  /** Whether a summary that failed makes way for top-down truncation. @default false */
  readonly 'compression.fallbackToTruncation'?: boolean | undefined;
  /** Whether to remove reads that a later write supersedes. @default true */
  readonly 'compression.density.readWritePruning'?: boolean | undefined;
  /** Whether to cut file inclusions that a later one repeats. @default true */
  readonly 'compression.density.fileDedupe'?: boolean | undefined;
  /** Whether to replace old results of each tool by a pointer. @default false */
  readonly 'compression.density.recencyPruning'?: boolean | undefined;
  /** Results to keep per tool; below 1 means 1. @default 3 */
  readonly 'compression.density.recencyRetention'?: number | undefined;
  /**
   * Whether to take away results that the agent no longer works with: by the `default` rules, by `aggressive` ones,
   * or by those that the session was created with, if any.
   * @default 'preset'
   */
  readonly 'compression.density.workingSet'?: WorkingSetChoice | undefined;
  /**
   * How far results are shrunk before the model is sent them: not at all, to where nothing is lost that an agent could use,
   * to what somebody reads, further, or as the session was created with.
   * @default 'preset'
   */
  readonly 'compression.density.shrink'?: ShrinkChoice | undefined;
  /**
   * What stands in place of results that are taken away: `pointer`, the fixed string, or `informative`,
   * a line with tool, key parameter, outcome, size and the id of the call. In a session with a transcript
   * that line says how to get the original back, and summary lines of high-density end the same way.
   * @default 'pointer'
   */
  readonly 'compression.density.placeholder'?: PlaceholderStyle | undefined;
}

/** Every name that a setting can be given by. */
export type SettingName = keyof EphemeralSettings;

/** A second name of a setting, taken wherever its key is and never given back. */
export type SettingAlias = 'compression-threshold';

/** The one name that each setting is kept by. */
export type SettingKey = Exclude<SettingName, SettingAlias>;
