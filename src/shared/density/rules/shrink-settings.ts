// What is set of shrinking, and what a pass goes by: a level, with single shrinkers off or on. Shrinks nothing.

import { SHRINK_LEVELS } from '../../shrink/shrinker.js';
import type { ShrinkLevel } from '../../shrink/shrinker.js';
import type { ShrinkerName, ShrinkSettings } from '../../shrink/shrink-text.js';

/**
 * How far results are shrunk before the model is sent them: not at all, by a level, or by a level with single shrinkers
 * off or on, which is `default` unless it is named.
 */
export type ShrinkOption =
  | 'off'
  | ShrinkLevel
  | ({ readonly level?: ShrinkLevel | undefined } & {
      readonly [Name in ShrinkerName]?: boolean | undefined;
    });

/** How far sessions shrink results unless they are told otherwise. */
export const DEFAULT_SHRINK: ShrinkOption = 'default';

/** The values of the setting `compression.density.shrink`. `preset`: as the session was created. */
export type ShrinkChoice = 'preset' | 'off' | ShrinkLevel;

/** All of them. */
export const SHRINK_CHOICES: readonly ['preset', ...ShrinkChoice[]] = [
  'preset',
  'off',
  ...SHRINK_LEVELS,
];

/** Returns what a pass goes by; `undefined` when nothing is shrunk. */
export function shrinkSettingsOf(option: ShrinkOption | undefined): ShrinkSettings | undefined {
  if (option === undefined || option === 'off') return undefined;
  if (typeof option === 'string') return { level: option };
  return { ...option, level: option.level ?? 'default' };
}
