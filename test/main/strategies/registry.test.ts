// From names to strategies.

import { describe, expect, it } from 'vitest';

import {
  getCompressionStrategy,
  parseCompressionStrategyName,
} from '../../../src/main/strategies/registry.js';
import { COMPRESSION_STRATEGIES } from '../../../src/main/strategies/strategy.js';

describe('parseCompressionStrategyName', () => {
  it.each(COMPRESSION_STRATEGIES)('knows %s', (name) => {
    expect(parseCompressionStrategyName(name)).toBe(name);
  });

  it.each(['', 'High-Density', 'toString', '__proto__'])('does not know %j', (name) => {
    expect(() => parseCompressionStrategyName(name)).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_STRATEGY', strategyName: name }),
    );
    for (const known of COMPRESSION_STRATEGIES) {
      expect(() => parseCompressionStrategyName(name)).toThrow(known);
    }
  });
});

describe('getCompressionStrategy', () => {
  it.each(COMPRESSION_STRATEGIES)('returns %s, which has its name and its trigger', (name) => {
    const strategy = getCompressionStrategy(name);
    expect(strategy.name).toBe(name);
    expect(strategy.trigger.defaultThreshold).toBeGreaterThan(0);
    expect(strategy.trigger.defaultThreshold).toBeLessThanOrEqual(1);
    expect(strategy.optimize !== undefined).toBe(strategy.trigger.mode === 'continuous');
  });
});
