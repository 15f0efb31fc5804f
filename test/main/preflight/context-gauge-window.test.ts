// Converts between the model's window and the tokens that histories are counted in.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { HistoryService } from '../../../src/main/history-service.js';
import { ContextGauge } from '../../../src/main/preflight/context-gauge.js';
import { createAgentRuntimeContext } from '../../../src/main/settings/session-config.js';
import { Settings } from '../../../src/main/settings/settings.js';
import { TokenCalibration } from '../../../src/main/tokens/token-calibration.js';
import { assertTokens } from '../../../src/shared/misuse.js';
import { runs } from '../../support/scale.js';
import { arbitraryRatio } from '../../support/arbitrary-ratio.js';

/** A gauge of an empty history, for a request with another `pendingTokens`. */
function gaugeOf(
  contextLimit: number,
  given: { overheadTokens?: number; ratio?: number; pendingTokens?: number; share?: number } = {},
): ContextGauge {
  const { overheadTokens = 0, ratio = 1, pendingTokens = 0, share = 0.85 } = given;
  const settings = new Settings({ 'compression.threshold': share });
  const gauge = new ContextGauge({
    history: new HistoryService(),
    runtimeContext: createAgentRuntimeContext(settings, contextLimit),
    calibration: new TokenCalibration(() => ratio),
    overheadTokens,
  });
  gauge.beginRequest({ pendingTokens });
  return gauge;
}

describe('ContextGauge, of the window', () => {
  it('changes no number when nothing is known and nothing is reserved', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000_000 }),
        fc.nat(2_000_000),
        fc.nat(2_000_000),
        arbitraryRatio(0.01, 1),
        (limit, pendingTokens, tokens, share) => {
          expect(gaugeOf(limit).windowTokens).toBe(limit);
          const gauge = gaugeOf(limit, { pendingTokens, share });
          expect(gauge.toModelTokens(tokens)).toBe(tokens);
          expect(tokens <= gauge.roomTokens()).toBe(tokens + pendingTokens <= limit);
          const isReached = tokens + pendingTokens >= share * limit;
          expect(tokens >= gauge.thresholdTokens()).toBe(isReached);
          expect(tokens >= gaugeOf(limit).thresholdTokens(pendingTokens, share)).toBe(isReached);
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  it('has less room for a model that counts more tokens per text', () => {
    const given = { overheadTokens: 600, ratio: 1.5, share: 0.5 };
    expect(gaugeOf(3_000, given).windowTokens).toBe(1_600);
    const gauge = gaugeOf(3_000, { ...given, pendingTokens: 300 });
    expect(gauge.windowTokens).toBe(1_400);
    expect(gauge.roomTokens()).toBe(1_400);
    expect(gauge.thresholdTokens()).toBe(400);
    expect(gauge.toModelTokens(1_001)).toBe(1_502);
  });

  it('has negative room for what does not fit by itself, and leaves strategies a target of one token', () => {
    const gauge = gaugeOf(1_000, { overheadTokens: 1_200, ratio: 2 });
    expect(gauge.roomTokens()).toBe(-100);
    expect(gauge.windowTokens).toBe(1);
  });

  it('has as much room as the model reports, within a token', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 2_000_000 }),
        fc.nat(500),
        fc.nat(400),
        arbitraryRatio(0.25, 4),
        (limit, overheadTokens, pendingTokens, ratio) => {
          const gauge = gaugeOf(limit, { overheadTokens, ratio, pendingTokens });
          const most = Math.floor(gauge.roomTokens());
          const rest = limit - overheadTokens - pendingTokens;
          expect(gauge.toModelTokens(most)).toBeLessThanOrEqual(rest + 1);
          expect(gauge.toModelTokens(most + 1)).toBeGreaterThanOrEqual(rest);
        },
      ),
    );
  });
});

describe('assertTokens', () => {
  it.each([0, 0.5, 1, 1e9])('accepts %d', (tokens) => {
    expect(() => {
      assertTokens('inputTokens', tokens);
    }).not.toThrow();
  });

  it.each([-1, NaN, Infinity, -Infinity])('refuses %d', (tokens) => {
    expect(() => {
      assertTokens('inputTokens', tokens);
    }).toThrow(new RangeError(`Expected inputTokens of at least 0, got ${tokens}.`));
  });

  it.each([undefined, null, '12', 3n, {}])('refuses %s, which is not a number', (tokens) => {
    expect(() => {
      assertTokens('inputTokens', tokens);
    }).toThrow(TypeError);
  });
});
