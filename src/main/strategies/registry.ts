// Looks up strategies by name.

import { UnknownStrategyError } from '../../shared/errors.js';
import { kindOf } from '../../shared/misuse.js';
import { HighDensityStrategy } from './high-density.js';
import { MiddleOutStrategy } from './middle-out.js';
import { OneShotStrategy } from './one-shot.js';
import { ProviderStrategy } from './provider.js';
import type { CompressionStrategy, CompressionStrategyName } from './strategy.js';
import { TopDownTruncationStrategy } from './top-down-truncation.js';

/**
 * Returns `name` as a strategy name.
 *
 * @throws UnknownStrategyError if it is none; the message lists all names.
 */
export function parseCompressionStrategyName(name: string): CompressionStrategyName {
  if (typeof name === 'string' && Object.hasOwn(STRATEGIES, name)) {
    return name as CompressionStrategyName;
  }
  // At run time a name may be anything.
  const given: unknown = name;
  throw new UnknownStrategyError(
    typeof given === 'string' ? given : kindOf(given),
    Object.keys(STRATEGIES),
  );
}

/** All strategies. Stateless, so one instance serves all sessions. */
export const STRATEGIES: Readonly<Record<CompressionStrategyName, CompressionStrategy>> = {
  'middle-out': new MiddleOutStrategy(),
  'top-down-truncation': new TopDownTruncationStrategy(),
  'one-shot': new OneShotStrategy(),
  'high-density': new HighDensityStrategy(),
  provider: new ProviderStrategy(),
};

/**
 * Returns the strategy of that name.
 *
 * @throws UnknownStrategyError if there is none.
 */
export function getCompressionStrategy(name: CompressionStrategyName): CompressionStrategy {
  return STRATEGIES[parseCompressionStrategyName(name)];
}
