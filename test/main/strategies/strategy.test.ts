import { describe, expect, it } from 'vitest';
import { compressionTarget } from '../../../src/main/strategies/strategy.js';
import { compressionContext } from '../../support/compression-context.js';

describe('compressionTarget', () => {
  it.each([
    [0.85, 10_000, 5_100],
    [0.5, 10_000, 3_000],
    [0.85, 1_001, 510],
  ])(
    'of a threshold of %d and a window of %d is 0.6 of both, rounded down',
    (threshold, limit, target) => {
      const ephemerals = { compressionThreshold: () => threshold, contextLimit: () => limit };
      const { runtimeContext } = compressionContext([], { ephemerals });
      expect(compressionTarget(runtimeContext.ephemerals)).toBe(target);
    },
  );
});
