// The settings that a host can give, by key. Types only: settings-registry.ts has defaults and bounds,
// parse-ephemeral-settings.ts validates.

import type { ShrinkChoice } from '../../shared/density/rules/shrink.js';
import type { WorkingSetChoice } from '../../shared/density/rules/working-set.js';
import type { CompressionStrategyName, OwnStrategyName } from '../strategies/strategy.js';

/** The values of the setting `compression.density.placeholder`. */
export type PlaceholderStyle = 'pointer' | 'informative';

/** Settings by key, all optional: a missing one falls back to the profile, then to its default. */
export interface EphemeralSettings {
  /** @default 'high-density' */
  readonly 'compression.strategy'?: CompressionStrategyName | undefined;
  /**
   * Names the model profile that writes summaries; ctxfold passes the name to the host and does not interpret it. @default the
   * model of the session
   */
  readonly 'compression.profile'?: string | undefined;
  /** Share of the context window at which to compress, in (0, 1]. @default the strategy's own */
  readonly 'compression.threshold'?: number | undefined;
  /** An alias of `compression.threshold`. If both are given they must be equal. */
  readonly 'compression-threshold'?: number | undefined;
  /**
   * Share of the context window at which a summary is requested in the background, in (0, 1]. It is applied at a later
   * preflight, followed by what was added meanwhile, so that no turn waits for it unless the window is full. 1: never; turns
   * wait instead.
   *
   * @default 0.7, and 1 with the preset `specification`
   */
  readonly 'compression.ahead'?: number | undefined;
  /** Share of the entries, from the end, that a compression leaves unchanged, in [0, 1]. @default 0.2 */
  readonly 'compression.preserveThreshold'?: number | undefined;
  /** Share of the entries, from the start, that middle-out leaves unchanged, in [0, 1]. @default 0.2 */
  readonly 'compression.topPreserveThreshold'?: number | undefined;
  /**
   * The strategy used if `provider` fails or is not available, or if a summary fails while the history does not fit the window.
   * @default 'high-density'
   */
  readonly 'compression.fallback'?: OwnStrategyName | undefined;
  /** Whether top-down truncation is used if a summary fails. @default false */
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
   * Whether to remove results that the agent no longer works with, and by which rules: `default` ones, `aggressive` ones, or with
   * `preset`, those that the session was created with, if any.
   *
   * @default 'preset'
   */
  readonly 'compression.density.workingSet'?: WorkingSetChoice | undefined;
  /**
   * How far results are shrunk before they are first sent: `off`, not at all; `lossless`, without losing anything an agent could
   * use; `default`, to what a person would read; `strong`, further; `preset`, as the session was created with.
   *
   * @default 'preset'
   */
  readonly 'compression.density.shrink'?: ShrinkChoice | undefined;
  /**
   * What replaces removed results: `pointer`, a fixed string, or `informative`, a line with tool, key parameter, outcome, size
   * and call id. In a session with a removal log that line says how to get the original back, and so do summary lines of
   * high-density.
   *
   * @default 'pointer'
   */
  readonly 'compression.density.placeholder'?: PlaceholderStyle | undefined;
}

/** Every accepted name of a setting. */
export type SettingName = keyof EphemeralSettings;

/** An alias of a setting: accepted wherever its key is, never returned. */
export type SettingAlias = 'compression-threshold';

/** The name under which a setting is stored. */
export type SettingKey = Exclude<SettingName, SettingAlias>;
